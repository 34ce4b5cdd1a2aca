/** The built dashboard is imported as a file, so that the single executable carries it. */
declare module '*/dashboard.pack' {
  const path: string;
  export = path;
}
