import { type ComponentType, lazy, type ReactNode } from 'react';

/** A component of a file that is loaded when it is first shown; `name` is what the file exports it as. */
export function lazyPart<Module, Name extends keyof Module>(load: () => Promise<Module>, name: Name) {
  // Where the export is no component, it takes `never` as its props, and cannot be used.
  return lazy(async () => ({ default: (await load())[name] as ComponentType<PropsOf<Module[Name]>> }));
}

type PropsOf<Part> = Part extends (props: infer Props) => ReactNode ? Props : never;
