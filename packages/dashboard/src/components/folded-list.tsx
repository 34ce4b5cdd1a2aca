import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { messages } from './messages.ts';
import { ScrollRegion } from './tables.tsx';

/** How many are shown at first. */
const FIRST = 50;

/** A list in a dialog, which scrolls; a button shows the rest of a long one. */
export function FoldedList<Item>({
  label,
  items,
  children: draw,
}: {
  label: string;
  items: readonly Item[];
  /** Draws a list item. */
  children: (item: Item) => ReactNode;
}) {
  const [most, setMost] = useState(FIRST);
  return (
    <ScrollRegion label={label} className="max-h-[40vh] overflow-y-auto rounded-md border border-line">
      <ul className="divide-y divide-line">{items.slice(0, most).map(draw)}</ul>
      {items.length > most && (
        <div className="border-t border-line p-2 text-center">
          <Button kind="quiet" onClick={() => setMost(items.length)}>
            {messages.showMore(items.length - most)}
          </Button>
        </div>
      )}
    </ScrollRegion>
  );
}
