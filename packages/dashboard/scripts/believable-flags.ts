/** A flag of the project on the screenshots: what it is for, and its states in development, staging and production. */
export interface BelievableFlag {
  readonly key: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly owner: string;
  readonly states: readonly [development: State, staging: State, production: State];
}

type State =
  | { readonly enabled: boolean; readonly value?: unknown; readonly rolloutPct?: number }
  | undefined;

const [on, off]: readonly [State, State] = [{ enabled: true }, { enabled: false }];
const share = (rolloutPct: number): State => ({ enabled: true, rolloutPct });
const value = (given: unknown): State => ({ enabled: true, value: given });

const flag = (
  key: string,
  description: string,
  [tag, owner]: readonly [string, string],
  states: BelievableFlag['states'],
): BelievableFlag => ({ key, description, tags: tag.split(' '), owner, states });

/** Twenty flags of a shop. */
export const BELIEVABLE_FLAGS: readonly BelievableFlag[] = [
  flag('new-checkout', 'The checkout in one page', ['checkout', 'Grace'], [on, on, share(25)]),
  flag('express-payment', 'Pay with one tap', ['checkout payment', 'Grace'], [on, share(50), off]),
  flag('gift-cards', 'Gift cards in the basket', ['checkout', 'Linus'], [on, on, on]),
  flag('guest-orders', 'Order without an account', ['checkout', 'Grace'], [on, on, share(60)]),
  flag('search-v2', 'Search with typo tolerance', ['search', 'Linus'], [on, share(75), share(10)]),
  flag('search-suggestions', 'Suggestions while typing', ['search', 'Linus'], [on, on, on]),
  flag('dark-mode', 'Follow the theme of the system', ['design', 'Margaret'], [on, on, on]),
  flag(
    'banner-text',
    'The line above the menu',
    ['content', 'Margaret'],
    [
      value('Fair winds from development'),
      value('Free shipping this week'),
      value('Free shipping this week'),
    ],
  ),
  flag(
    'upload-limit-mb',
    'Largest picture of a review',
    ['reviews', 'Linus'],
    [value(100), value(50), value(25)],
  ),
  flag('review-pictures', 'Pictures in reviews', ['reviews', 'Linus'], [on, on, off]),
  flag(
    'recommendations',
    'You may also like',
    ['ranking', 'Ada'],
    [
      value({ model: 'graph-3', shelf: 6 }),
      value({ model: 'graph-3', shelf: 4 }),
      value({ model: 'graph-2', shelf: 4 }),
    ],
  ),
  flag('stock-warnings', 'Only three left', ['content', 'Margaret'], [on, on, on]),
  flag('store-pickup', 'Collect from a store', ['delivery', 'Grace'], [on, off, off]),
  flag('delivery-slots', 'Choose an hour of delivery', ['delivery', 'Grace'], [on, share(50), undefined]),
  flag('cookie-notice-short', 'The short text', ['content', 'Margaret'], [on, on, on]),
  flag('image-avif', 'Pictures in AVIF', ['speed', 'Ada'], [on, on, share(90)]),
  flag('edge-cache', 'Answer the catalogue from the edge', ['speed', 'Ada'], [on, on, share(5)]),
  flag('price-alerts', 'Mail when a price falls', ['mail', 'Linus'], [off, off, undefined]),
  flag('newsletter-popup', 'Ask for the address once', ['mail', 'Margaret'], [off, off, off]),
  flag('maintenance-mode', 'Sell nothing, say why', ['operations', 'Ada'], [off, off, off]),
];
