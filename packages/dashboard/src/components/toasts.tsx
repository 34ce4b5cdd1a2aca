import CircleAlert from 'lucide-react/icons/circle-alert';
import CircleCheck from 'lucide-react/icons/circle-check';
import Info from 'lucide-react/icons/info';
import X from 'lucide-react/icons/x';
import { type CSSProperties, type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useShortcut } from '../browser/use-shortcut.ts';
import { createWatchers } from '../browser/watchers.ts';
import { IconButton } from './button.tsx';
import { focusPlace } from './keep-focus.ts';
import { announce } from './live-region.tsx';

/** A message at the edge of the screen that closes by itself. */
interface Toast {
  readonly kind: 'done' | 'problem' | 'news';
  readonly title: string;
  /** Its subject, such as a cell of the list: a newer message with the same subject replaces it. */
  readonly about?: string;
  /** Details below the title, such as the proof of delivery. */
  readonly detail?: ReactNode;
  readonly action?: { readonly label: string; readonly run: () => void };
  /** Calls `end` once it is no longer true, which removes it. Returns the function that stops watching. */
  readonly watch?: (end: () => void) => () => void;
  /** How long it stays; default 10 seconds, in which "Undo" is offered. */
  readonly durationMs?: number;
}

interface Shown extends Toast {
  readonly id: number;
}

/** How many messages are shown at once: more would cover the screen. */
const MOST = 4;
const DURATION_MS = 10_000;

let shown: readonly Shown[] = [];
let lastId = 0;
const { watch, tell } = createWatchers();

/** Shows a message, and has it read out. Returns a function that removes it. */
export function toast(message: Toast): () => void {
  const id = ++lastId;
  const others = shown.filter(({ about }) => about === undefined || about !== message.about);
  set([...others, { ...message, id }].slice(-MOST));
  return () => dismiss(id);
}

function dismiss(id: number): void {
  set(shown.filter((each) => each.id !== id));
}

function set(next: readonly Shown[]): void {
  shown = next;
  tell();
}

const ICONS = {
  done: <CircleCheck size={16} className="mt-0.5 shrink-0 text-good" aria-hidden />,
  problem: <CircleAlert size={16} className="mt-0.5 shrink-0 text-danger" aria-hidden />,
  news: <Info size={16} className="mt-0.5 shrink-0 text-accent" aria-hidden />,
} as const;

/** The height that messages take at the foot of the window, in pixels. */
const FOOT_PX = 180;

/** The width that messages take, from the right of a wide window, in pixels. */
const SIDE_PX = 400;

/** How far messages stand above the foot, in pixels: not over the control, or the row of the switch, that was just used. */
function liftOverFocus(): number {
  const place = focusPlace();
  // What a dialog reports appears while it closes: its button is about to go away.
  if (place?.closest('dialog')) return 0;
  const box = (place?.closest('[data-column]') ?? place)?.getBoundingClientRect();
  if (box === undefined || box.height > FOOT_PX) return 0;

  const isBeside = innerWidth >= 640 && box.right < innerWidth - SIDE_PX;
  const lift = innerHeight - box.top;
  const isInFoot = lift > 0 && box.bottom > innerHeight - FOOT_PX;
  // Above it there has to be space for a message, too.
  return isInFoot && !isBeside && box.top > FOOT_PX / 2 ? lift : 0;
}

/** The place of the messages. The page has one. */
export function Toasts() {
  const list = useSyncExternalStore(watch, () => shown);
  const newest = list.at(-1)?.id;
  // All stay where the newest one appeared, unless the focus moves below them.
  const [place, setPlace] = useState({ newest, liftPx: 0 });
  if (place.newest !== newest) setPlace({ newest, liftPx: newest === undefined ? 0 : liftOverFocus() });

  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    function makeWay({ target }: FocusEvent): void {
      const [own, box] = [ref.current, focusPlace()].map((each) => each?.getBoundingClientRect());
      // Events of the window have no other targets.
      if (own === undefined || box === undefined || ref.current?.contains(target as Node)) return;
      const isCovered =
        own.left < box.right && box.left < own.right && own.top < box.bottom && box.top < own.bottom;
      if (isCovered) setPlace((before) => ({ ...before, liftPx: liftOverFocus() }));
    }
    addEventListener('focusin', makeWay);
    return () => removeEventListener('focusin', makeWay);
  }, []);

  useShortcut('t', () => {
    ref.current?.lastElementChild?.querySelector<HTMLElement>('a, button')?.focus();
  });

  return (
    <section
      ref={ref}
      aria-label="Messages"
      aria-keyshortcuts="t"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-3 bottom-[calc(0.75rem+max(var(--bottom-bar),var(--lift)))] z-50 flex flex-col items-end gap-2 sm:left-auto sm:w-96"
      // The types of styles do not know properties of our own.
      style={{ '--lift': `${place.liftPx}px` } as CSSProperties}
    >
      {list.map((each) => (
        <ToastCard key={each.id} toast={each} />
      ))}
    </section>
  );
}

function ToastCard({
  toast: { id, kind, title, detail, action, watch, durationMs = DURATION_MS },
}: {
  toast: Shown;
}) {
  const [isPaused, setPaused] = useState(false);
  const leftMs = useRef(durationMs);
  useEffect(() => watch?.(() => dismiss(id)), [id, watch]);
  const words = useRef<HTMLDivElement>(null);
  // Screen readers ignore messages outside of an open dialog, whose own region says it then.
  useEffect(() => {
    const texts = [...(words.current?.children ?? [])].map(({ textContent }) => textContent);
    if (document.querySelector('dialog[open]') !== null) announce(texts.filter(Boolean).join(' '));
  }, []);

  useEffect(() => {
    if (isPaused) return;
    const start = performance.now();
    const timer = setTimeout(() => dismiss(id), leftMs.current);
    return () => {
      clearTimeout(timer);
      leftMs.current -= performance.now() - start;
    };
  }, [id, isPaused]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it must stay while it is hovered or focused
    <div
      role={kind === 'problem' ? 'alert' : undefined}
      className="pointer-events-auto flex w-full animate-enter items-start gap-2.5 rounded-lg border border-line bg-raised p-3 shadow-pop"
      onMouseEnter={() => setPaused(true)}
      onMouseLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
    >
      {ICONS[kind]}
      <div ref={words} className="min-w-0 flex-1">
        <p className="font-medium break-words">{title}</p>
        {detail !== undefined && <div className="text-xs break-words text-ink-2">{detail}</div>}
      </div>

      {action && (
        <button
          type="button"
          className="target min-h-6 rounded px-1.5 font-medium text-accent hover:underline"
          onClick={() => {
            dismiss(id);
            action.run();
          }}
        >
          {action.label}
        </button>
      )}
      <span aria-live="off" className="-m-0.5 flex">
        <IconButton icon={X} label="Dismiss" className="size-6" onClick={() => dismiss(id)} />
      </span>
    </div>
  );
}
