/**
 * Fetches the files of every screen while the browser is idle, one after the other, so that screens open at once and
 * survive an outage. They only go into the browser's cache: a failed `import()` would be remembered until a reload.
 */
export async function prefetchParts(): Promise<void> {
  const list = document.querySelector<HTMLMetaElement>('meta[name="parts"]')?.content ?? '';
  for (const path of list.split(' ').filter(Boolean)) {
    await idle();
    // Without it, the file is fetched when its screen is shown.
    await fetch(path).then(
      (response) => response.arrayBuffer(),
      () => undefined,
    );
  }
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has no idle callbacks.
    if (typeof requestIdleCallback === 'function') requestIdleCallback(() => resolve());
    else setTimeout(resolve, 200);
  });
}

/** How long after a reload the page does not reload by itself again, in milliseconds. */
const PAUSE_MS = 30_000;
const RELOADED = 'halyard.reloaded';

/**
 * Reloads the page if the server answers: browsers keep a part that could not be loaded as failed until then. Does
 * nothing shortly after the last time, so that a part that is really missing causes no endless reloads.
 */
export async function reloadWhenReachable(): Promise<void> {
  const answer = await fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).catch(() => undefined);
  if (answer?.ok !== true) return;
  try {
    if (Date.now() - Number(sessionStorage.getItem(RELOADED) ?? 0) < PAUSE_MS) return;
    sessionStorage.setItem(RELOADED, String(Date.now()));
  } catch {
    // Without storage nothing would stop a loop.
    return;
  }
  location.reload();
}
