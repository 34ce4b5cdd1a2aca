/**
 * Runs in the page's head, before anything is painted, so that a dark screen never flashes white. It stands alone: a
 * page without inline scripts cannot pass it anything.
 */
const chosen = (() => {
  try {
    return localStorage.getItem('halyard.theme');
  } catch {
    // Storage is switched off in this browser: the system decides.
    return null;
  }
})();
const isDark =
  chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
