/** Markdown and the stylesheet are imported as text, so that the single executable carries them. */
declare module '*.md' {
  const text: string;
  export = text;
}

declare module '*/docs.css' {
  const text: string;
  export = text;
}
