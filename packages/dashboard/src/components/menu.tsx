import type { LucideIcon } from 'lucide-react';
import Check from 'lucide-react/icons/check';
import Ellipsis from 'lucide-react/icons/ellipsis';
import {
  type ComponentProps,
  cloneElement,
  createContext,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { useLocation } from 'wouter';
import { IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { Popover } from './popover.tsx';

/** Closes the menu, returns the focus to its button and runs the action. */
const RunContext = createContext<(action: () => void) => void>((action) => action());

const ITEMS = '[role^="menuitem"]:not(:disabled)';

/** A menu that opens from `trigger`, a button, with the keys that menus have: arrows, Home, End, and letters. */
export function Menu({
  trigger,
  children,
  align = 'end',
}: {
  trigger: ReactElement<ComponentProps<'button'>>;
  children: ReactNode;
  align?: 'start' | 'end';
}) {
  const id = useId();
  const anchor = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<'first' | 'last'>();
  const isOpen = open !== undefined;
  useEffect(() => {
    const items = list.current?.querySelectorAll<HTMLElement>(ITEMS);
    if (open !== undefined) items?.[open === 'first' ? 0 : items.length - 1]?.focus();
  }, [open]);
  const close = () => setOpen(undefined);

  return (
    <>
      {cloneElement(trigger, {
        ref: anchor,
        id: `${id}-trigger`,
        'aria-haspopup': 'menu',
        'aria-expanded': isOpen,
        'aria-controls': isOpen ? id : undefined,
        onClick: () => setOpen(isOpen ? undefined : 'first'),
        onKeyDown: (event: KeyboardEvent) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          setOpen(event.key === 'ArrowDown' ? 'first' : 'last');
        },
      })}

      {isOpen && (
        <RunContext
          value={(action) => {
            close();
            anchor.current?.focus();
            action();
          }}
        >
          <Popover anchor={anchor} align={align} onClose={close}>
            <div
              ref={list}
              id={id}
              role="menu"
              tabIndex={-1}
              aria-labelledby={`${id}-trigger`}
              className="outline-none"
              onKeyDown={(event) => {
                if (event.key === 'Tab') close();
                else moveFocus(event);
              }}
            >
              {children}
            </div>
          </Popover>
        </RunContext>
      )}
    </>
  );
}

/** Moves the focus between the items of a menu. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>(ITEMS)];
  const here = items.findIndex((item) => item.matches(':focus'));
  const next = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: -1 }[event.key];
  const isLetter = event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey;
  if (next === undefined && !isLetter) return;
  event.preventDefault();
  event.stopPropagation();
  const item =
    next === undefined
      ? [...items.slice(here + 1), ...items.slice(0, here + 1)].find((each) =>
          each.textContent?.trim().toLowerCase().startsWith(event.key.toLowerCase()),
        )
      : items.at(next === items.length ? 0 : next);
  item?.focus();
}

const ITEM =
  'flex min-h-7 pointer-coarse:min-h-10 w-full cursor-pointer items-center gap-2 rounded px-2 py-1 text-left select-none -outline-offset-2 disabled:cursor-default disabled:opacity-50 focus:bg-hover';

/** An action of a menu. */
export function MenuItem({
  icon: Icon,
  label,
  isDangerous,
  disabled,
  onSelect,
}: {
  icon?: LucideIcon;
  label: ReactNode;
  isDangerous?: boolean;
  disabled?: boolean;
  onSelect: () => void;
}) {
  const run = useContext(RunContext);
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      disabled={disabled}
      onClick={() => run(onSelect)}
      onPointerMove={takeFocus}
      className={classNames(ITEM, isDangerous && 'text-danger')}
    >
      {Icon && <Icon size={14} aria-hidden />}
      {label}
    </button>
  );
}

/** An item that leads to an address of the dashboard. */
export function MenuLink({ to, label }: { to: string; label: string }) {
  const [, navigate] = useLocation();
  return <MenuItem label={label} onSelect={() => navigate(to)} />;
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
  const run = useContext(RunContext);
  return (
    <button
      type="button"
      role="menuitemcheckbox"
      aria-checked={isChosen}
      tabIndex={-1}
      onClick={() => run(onSelect)}
      onPointerMove={takeFocus}
      className={ITEM}
    >
      <span className="w-3.5 text-accent">{isChosen && <Check size={14} aria-hidden />}</span>
      {children}
    </button>
  );
}

/** As in every menu, the item below the pointer is the one that Enter would run. */
function takeFocus({ currentTarget }: { currentTarget: HTMLElement }): void {
  if (document.activeElement !== currentTarget) currentTarget.focus({ preventScroll: true });
}

/** A heading inside a menu. */
export function MenuLabel({ children }: { children: ReactNode }) {
  return (
    <div role="presentation" className="px-2 py-1 text-xs text-ink-3">
      {children}
    </div>
  );
}

/** A line inside a menu. */
export function MenuSeparator() {
  return <hr className="my-1 border-line" />;
}

/** The less frequent actions on a record, behind "…". `label` names it, such as "More for production". */
export function OverflowMenu({ label, children }: { label: string; children: ReactNode }) {
  return <Menu trigger={<IconButton icon={Ellipsis} iconSize={16} label={label} />}>{children}</Menu>;
}
