'use client';

import { useFlag } from '@halyard/client/react';

export function Feature() {
  return <p>dark-mode is {useFlag('dark-mode') ? 'on' : 'off'}</p>;
}
