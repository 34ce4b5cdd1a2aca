import { classNames } from './class-names.ts';

/** Keys as labeled on a keyboard, separated by spaces: `g h`. */
export function Kbd({ keys, className }: { keys: string; className?: string }) {
  return (
    <span className={classNames('inline-flex shrink-0 gap-1', className)}>
      {keys.split(' ').map((key, index) => (
        <kbd
          // biome-ignore lint/suspicious/noArrayIndexKey: the keys of one shortcut never move
          key={index}
          className="inline-flex h-5 min-w-5 items-center justify-center rounded border border-line bg-surface px-1 font-mono text-2xs text-ink-2"
        >
          {key}
        </kbd>
      ))}
    </span>
  );
}
