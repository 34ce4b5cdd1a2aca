import { writeFileSync } from 'node:fs';
import { Management, type TcpProxy } from '@halyard/testing';
import type { Fault } from './faults.ts';
import { type Balancer, type Fleet, managersOf, type Standby } from './fleet-node.ts';

/** Trouble with the load balancer through which a relay reaches its nodes. */
export const BALANCER_FAULTS: readonly Fault[] = [
  {
    kind: 'relay moved to another node',
    run: async ({ fleet }, random) => moveTo(balancerOf(fleet), random.pick([0, 1])),
  },
  {
    // The answers of its database are late, so it is behind the node that the relay followed before.
    kind: 'relay moved to a node that is behind',
    run: async ({ fleet }, random) => {
      const balancer = balancerOf(fleet);
      const behind = random.pick([0, 1]);
      const slow = proxyOf(balancer.choices[behind]?.proxy);
      moveTo(balancer, 1 - behind);
      await Bun.sleep(random.between(500, 1_500));

      slow.delay(random.between(100, 900));
      await Bun.sleep(random.between(500, 2_000));
      moveTo(balancer, behind);
      await Bun.sleep(random.between(1_000, 8_000));
      slow.restore();
    },
  },
];

function moveTo({ relay, choices }: Balancer, index: number): void {
  const choice = choices[index];
  if (choice === undefined) throw new Error('the balancer has no such choice');
  const proxy = proxyOf(relay.proxy);
  proxy.lead({ port: Number(new URL(choice.url).port) });
  proxy.reset();
}

/** How long relays may take to notice a new token, in milliseconds. */
const NOTICED_MS = 6_000;

/** The token of relays is replaced while they run, whatever else is wrong, and the old one ends. */
export const TOKEN_FAULTS: readonly Fault[] = [
  {
    kind: 'relay token replaced',
    run: async ({ fleet, prepare }, random) => {
      const { relayToken: place, adminToken } = fleet;
      const [manager] = managersOf(fleet);
      if (place === undefined || manager === undefined) throw new Error('this fleet has no relay token');
      const management = new Management({ url: manager.url, adminToken });

      const old = place.id;
      // A name of its own for each attempt: the answer to one that has succeeded may be lost.
      const made = await prepare('another relay token', () =>
        management.createRelayToken(`campaign-${crypto.randomUUID().slice(0, 8)}`),
      );
      writeFileSync(place.file, made.token);
      place.id = made.id;
      await Bun.sleep(random.between(0, NOTICED_MS));
      await prepare('the end of the old relay token', () =>
        management.request('DELETE', `/api/relay-tokens/${old}`),
      );
    },
  },
];

/** Trouble between a primary and its standby. */
export const STANDBY_FAULTS: readonly Fault[] = [
  {
    kind: 'standby cut off without a sign',
    run: async ({ fleet }, random) => {
      const { link } = standbyOf(fleet);
      link.blackhole();
      await Bun.sleep(random.between(4_000, 20_000));
      link.restore();
    },
  },
  {
    kind: 'standby slow to receive',
    run: async ({ fleet }, random) => {
      const { link } = standbyOf(fleet);
      link.delay(random.between(50, 1_500));
      await Bun.sleep(random.between(2_000, 6_000));
      link.restore();
    },
  },
  {
    kind: 'standby slow to replay',
    run: async ({ fleet }, random) => {
      const { server } = standbyOf(fleet);
      await server.query('SELECT pg_wal_replay_pause()');
      await Bun.sleep(random.between(500, 8_000));
      await server.query('SELECT pg_wal_replay_resume()');
    },
  },
  { kind: 'standby link reset', run: async ({ fleet }) => standbyOf(fleet).link.reset() },
  {
    kind: 'standby restarted',
    run: async ({ fleet }, random) => {
      const { server } = standbyOf(fleet);
      await server.stop('fast');
      await Bun.sleep(random.between(0, 3_000));
      await server.start();
    },
  },
];

function balancerOf({ balancer }: Fleet): Balancer {
  if (balancer === undefined) throw new Error('this fleet has no load balancer');
  return balancer;
}

function standbyOf({ standby }: Fleet): Standby {
  if (standby === undefined) throw new Error('this fleet has no standby to cut off');
  return standby;
}

function proxyOf(proxy: TcpProxy | undefined): TcpProxy {
  if (proxy === undefined) throw new Error('this node has no link that can fail');
  return proxy;
}
