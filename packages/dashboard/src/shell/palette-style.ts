/** Whether shortcuts are written with ⌘. */
export const IS_APPLE = /Mac|iP(hone|ad|od)/.test(navigator.platform);

/** Classes of the command palette's dialog, the same while it loads. */
export const PALETTE_FRAME = 'mt-[12vh] max-h-[70vh] w-[min(40rem,calc(100vw-1.5rem))] overflow-hidden';

/** Classes of its field. */
export const PALETTE_FIELD =
  'h-12 w-full shrink-0 border-b border-line bg-transparent px-4 text-base outline-none';
