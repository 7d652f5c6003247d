// SPDX-License-Identifier: Apache-2.0
// Where the server asks for its token and the browser has none.
import { useState } from 'preact/hooks';
import { TextField } from '../ui/fields';
import { Notice } from '../ui/notice';

export function TokenPage() {
  const [token, setToken] = useState('');
  const open = (event: Event) => {
    event.preventDefault();
    const address = new URL(location.href);
    address.searchParams.set('token', token.trim());
    location.assign(address);
  };
  return (
    <main class="room">
      <form class="panel stack" onSubmit={open}>
        <h1>This studio needs its token</h1>
        {new URL(location.href).searchParams.has('token') && (
          <Notice kind="bad">That is not the token.</Notice>
        )}
        <p>
          It was printed where the program was started, at the end of the address. Paste it here.
        </p>
        <TextField label="Token" value={token} change={setToken} />
        <div class="row">
          <button type="submit" class="main" disabled={token.trim() === ''}>
            Open the studio
          </button>
        </div>
      </form>
    </main>
  );
}
