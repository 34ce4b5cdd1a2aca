// Imported as text or as a file, so that the single executable carries them.

declare module '*.txt' {
  const text: string;
  export = text;
}

declare module '*.md' {
  const text: string;
  export = text;
}

declare module '*/docs.css' {
  const text: string;
  export = text;
}

declare module '*/dashboard.pack' {
  const path: string;
  export = path;
}
