// SPDX-License-Identifier: Apache-2.0
// Says that the server is gone, and that it came back.
import { useEffect, useState } from 'preact/hooks';
import { connection, reconnectNow } from '../state/session';

const patience = 1500; // ms: a hiccup is no news

export function Banner() {
  const isLost = connection.value === 'lost';
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isLost) {
      setShown(false);
      return undefined;
    }
    const timer = setTimeout(() => setShown(true), patience);
    return () => clearTimeout(timer);
  }, [isLost]);
  return (
    <div role="status" aria-live="polite">
      {isShown && (
        <div class="banner">
          <p class="grow">
            The server does not answer. Jobs are kept; this page reconnects by itself when it runs
            again.
          </p>
          <button type="button" onClick={reconnectNow}>
            Try now
          </button>
        </div>
      )}
    </div>
  );
}
