/**
 * Runs in the page's head, before the first paint, so that a dark screen never flashes white. It imports nothing and
 * takes no parameters, because the page has no inline scripts.
 */
const chosen = (() => {
  try {
    return localStorage.getItem('halyard.theme');
  } catch {
    // Storage is disabled in this browser: the system setting applies.
    return null;
  }
})();
const isDark =
  chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
