// SPDX-License-Identifier: Apache-2.0
// Threads need a page that is isolated from other origins, which takes headers. Where the host does
// not send them, our service worker adds them from the next load on; where that is refused too, the
// page works with one thread.

const tried = 'ubique.isolation-tried';

const longest = 2000; // ms to wait for the service worker; without it there is one thread

function controlled(): Promise<boolean> {
  if (navigator.serviceWorker.controller) return Promise.resolve(true);
  return new Promise((resolve) => {
    const taken = () => resolve(true);
    navigator.serviceWorker.addEventListener('controllerchange', taken, { once: true });
    setTimeout(() => resolve(false), longest);
  });
}

/** Reloads the page once if that brings threads and loses nothing that a person did. Says whether
 * it does, so that nothing more is begun here. */
export async function isolate(untouched: () => boolean): Promise<boolean> {
  if (crossOriginIsolated || !('serviceWorker' in navigator)) return false;
  try {
    if (sessionStorage.getItem(tried) !== null) return false;
    await navigator.serviceWorker.register(new URL('isolation.js', document.baseURI));
    if (!(await controlled()) || !untouched()) return false;
    sessionStorage.setItem(tried, 'yes');
    location.reload();
    return true;
  } catch {
    return false; // no service workers or no storage here, as in private windows
  }
}

export function threadsText(): string {
  return crossOriginIsolated
    ? `Threads are available: ${navigator.hardwareConcurrency}.`
    : 'Threads are not available here: the page is not isolated from other origins.';
}
