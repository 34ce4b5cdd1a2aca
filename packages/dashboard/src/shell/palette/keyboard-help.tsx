import { PROJECT_SCREENS, PROJECT_SETTINGS } from '../../browser/links.ts';
import { useStoredChoice } from '../../browser/stored.ts';
import { SINGLE_KEYS } from '../../browser/use-shortcut.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Kbd } from '../../components/kbd.tsx';
import { Switch } from '../../components/switch.tsx';
import { messages as shell } from '../messages.ts';
import { IS_APPLE } from '../palette-style.ts';
import { messages } from './messages.ts';

const words = messages.keyboard;

const GROUPS: readonly (readonly [
  title: string,
  keys: readonly (readonly [keys: string, what: string])[],
])[] = [
  [
    words.everywhere,
    [
      [IS_APPLE ? '⌘ K' : 'Ctrl K', shell.palette.hint],
      ['?', words.showKeys],
      ['/', words.search],
      ['n', words.create],
      ['t', words.message],
      ['Esc', words.escape],
    ],
  ],
  [
    words.table,
    [
      ['/ ↓', words.fromSearch],
      ['j', words.next],
      ['k', words.previous],
      ['h', words.left],
      ['l', words.right],
      ['Space', words.flip],
      ['Enter', words.open],
      ['x', words.select],
      ['a', words.actions],
    ],
  ],
  [words.goTo, [...PROJECT_SCREENS, ...PROJECT_SETTINGS].map(({ name, key }) => [`g ${key}`, name] as const)],
];

/** The list of all keyboard shortcuts. */
export function KeyboardHelp({ onClose }: { onClose: () => void }) {
  const [singleKeys, setSingleKeys] = useStoredChoice('single-keys', SINGLE_KEYS, 'on');
  return (
    <Dialog title={words.title} onClose={onClose} className="w-[min(44rem,calc(100vw-2rem))]">
      <div className="mb-3 flex items-center gap-2">
        <Switch
          label={shell.singleKeys}
          checked={singleKeys === 'on'}
          onChange={(event) => setSingleKeys(event.target.checked ? 'on' : 'off')}
        />
        <span aria-hidden className="text-ink-2">
          {shell.singleKeys}
        </span>
      </div>

      <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
        {GROUPS.map(([title, keys]) => (
          <section key={title} className="last:sm:col-start-2 last:sm:row-span-2 last:sm:row-start-1">
            <h3 className="mb-1 text-xs font-medium text-ink-3">{title}</h3>
            <dl>
              {keys.map(([combination, what]) => (
                <div key={combination} className="flex min-h-7 items-center justify-between gap-3">
                  <dt className="text-ink-2">{what}</dt>
                  <dd>
                    <Kbd keys={combination} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
