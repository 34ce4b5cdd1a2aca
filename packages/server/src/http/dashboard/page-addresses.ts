/** The addresses of the dashboard's screens. Each answers the same page, which reads its own address. */
const PAGES: readonly RegExp[] = [
  /^\/$/,
  /^\/(sign-in|setup|invitation|operators|tokens|audit|account)$/,
  /^\/projects\/[^/]+\/(flags|compare|keys|environments|schedules|history|clients)$/,
  /^\/projects\/[^/]+\/flags\/[^/]+$/,
];

/** Whether a path is a screen of the dashboard. */
export function isPageAddress(path: string): boolean {
  return PAGES.some((pattern) => pattern.test(path));
}
