import { useState } from 'react';
import { Field, INPUT } from './field.tsx';
import { fullTime } from './time-ago.tsx';

const DAY_MS = 86_400_000;

/** The choices by value: how many days from now, `0` for never, `-1` for a day of one's own. */
const CHOICES: readonly (readonly [days: number, label: string])[] = [
  [0, 'Never'],
  [7, 'In 7 days'],
  [30, 'In 30 days'],
  [90, 'In 90 days'],
  [365, 'In a year'],
  [-1, 'On a day …'],
];

/** When something ends. */
export type Expiry =
  | { readonly kind: 'never' }
  | { readonly kind: 'at'; readonly at: Date }
  /** A day is asked for and not given yet, or gone by. */
  | { readonly kind: 'unusable' };

/** Asks when something ends: never, after a while, or at the end of a day. Starts with never. */
export function ExpiryField({
  hint,
  isTried,
  onChange,
}: {
  hint?: string;
  /** The form was sent: say what is missing. */
  isTried: boolean;
  onChange: (expiry: Expiry) => void;
}) {
  const [days, setDays] = useState(0);
  const [expiry, setExpiry] = useState<Expiry>({ kind: 'never' });
  const [day, setDay] = useState('');
  function set(next: Expiry): void {
    setExpiry(next);
    onChange(next);
  }
  function choose(chosen: number): void {
    setDays(chosen);
    if (chosen === 0) set({ kind: 'never' });
    else if (chosen === -1) set(endOfDay(day));
    else set({ kind: 'at', at: new Date(Date.now() + chosen * DAY_MS) });
  }
  const isUnusable = expiry.kind === 'unusable' && (isTried || day !== '');
  const note = expiry.kind === 'never' ? hint : expiry.kind === 'at' ? fullTime(expiry.at) : undefined;
  return (
    <Field label="Expires" hint={note} error={isUnusable ? 'Choose a day that is not over.' : undefined}>
      {(control) => (
        <div className="flex flex-wrap gap-2">
          <select
            {...control}
            className={`${INPUT} w-auto flex-1`}
            value={days}
            onChange={(event) => choose(Number(event.target.value))}
          >
            {CHOICES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
          {days === -1 && (
            <input
              type="date"
              aria-label="Day on which it expires"
              className={`${INPUT} w-auto flex-1`}
              required
              min={localDay(new Date())}
              value={day}
              onChange={(event) => {
                setDay(event.target.value);
                set(endOfDay(event.target.value));
              }}
            />
          )}
        </div>
      )}
    </Field>
  );
}

/** The member of a request; nothing for never. */
export function expiryMember(expiry: Expiry): { readonly expiresAt?: string } {
  return expiry.kind === 'at' ? { expiresAt: expiry.at.toISOString() } : {};
}

/** The last moment of a day in local time. */
function endOfDay(day: string): Expiry {
  const at = new Date(`${day}T23:59:59`);
  return at.getTime() > Date.now() ? { kind: 'at', at } : { kind: 'unusable' };
}

function localDay(date: Date): string {
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0'));
  return `${date.getFullYear()}-${month}-${day}`;
}
