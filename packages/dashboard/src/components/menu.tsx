import Check from 'lucide-react/icons/check';
import { DropdownMenu } from 'radix-ui';
import type { ReactElement, ReactNode } from 'react';
import { classNames } from './class-names.ts';

/**
 * A menu that opens from `trigger`, a button. It is not modal: a modal one locks scrolling with a style sheet, which the
 * page's policy blocks.
 */
export function Menu({
  trigger,
  children,
  align = 'end',
}: {
  trigger: ReactElement;
  children: ReactNode;
  align?: 'start' | 'end';
}) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            // The selected item opened another screen, whose heading keeps the focus.
            if (document.activeElement?.tagName === 'H1') event.preventDefault();
          }}
          className="z-40 max-h-[70vh] min-w-48 overflow-y-auto rounded-lg border border-line bg-raised p-1 text-ink shadow-pop"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** An action of a menu. */
export function MenuItem({
  onSelect,
  isDangerous,
  disabled,
  children,
}: {
  onSelect: () => void;
  isDangerous?: boolean;
  disabled?: boolean;
  children: ReactNode;
}) {
  return (
    <DropdownMenu.Item
      onSelect={onSelect}
      {...(disabled === undefined ? {} : { disabled })}
      className={classNames(
        'flex min-h-7 cursor-pointer items-center gap-2 rounded px-2 py-1 outline-none select-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover',
        isDangerous && 'text-danger',
      )}
    >
      {children}
    </DropdownMenu.Item>
  );
}

/** One of several options, of which one is selected. */
export function MenuChoice({
  isChosen,
  onSelect,
  children,
}: {
  isChosen: boolean;
  onSelect: () => void;
  children: ReactNode;
}) {
  return (
    <DropdownMenu.CheckboxItem
      checked={isChosen}
      onSelect={onSelect}
      className="flex min-h-7 cursor-pointer items-center gap-2 rounded px-2 py-1 outline-none select-none data-[highlighted]:bg-hover"
    >
      <span className="w-3.5 text-accent">
        <DropdownMenu.ItemIndicator>
          <Check size={14} aria-hidden />
        </DropdownMenu.ItemIndicator>
      </span>
      {children}
    </DropdownMenu.CheckboxItem>
  );
}

/** A heading inside a menu. */
export function MenuLabel({ children }: { children: ReactNode }) {
  return <DropdownMenu.Label className="px-2 py-1 text-xs text-ink-3">{children}</DropdownMenu.Label>;
}

/** A line inside a menu. */
export function MenuSeparator() {
  return <DropdownMenu.Separator className="my-1 h-px bg-line" />;
}
