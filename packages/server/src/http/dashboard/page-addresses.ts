/** The addresses of the dashboard's screens. Each answers the same page, which reads its own address. */
const PAGES: readonly RegExp[] = [
  /^\/$/,
  /^\/(sign-in|setup|invitation|operators|tokens|audit|account)$/,
  /^\/projects(\/[^/]+)?$/,
  /^\/projects\/[^/]+\/(flags|compare|keys|environments|schedules|history|clients)$/,
  /^\/projects\/[^/]+\/flags\/[^/]+$/,
];

/** Whether a path is a screen of the dashboard. */
export function isPageAddress(path: string): boolean {
  return PAGES.some((pattern) => pattern.test(path));
}

/** What is for programs, and answers them in JSON or text whatever they accept. */
const NO_PAGES = /^\/(api|v1|ofrep|docs|assets|metrics|healthz|readyz|favicon\.svg)(\/|$)/;

/** Whether a path that leads nowhere is asked for by a browser, which is shown a page that says so. */
export function isLostPage(path: string, accept: string | null): boolean {
  return !NO_PAGES.test(path) && /\btext\/html\b/.test(accept ?? '');
}
