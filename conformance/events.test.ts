import { expect, test } from 'bun:test';
import { conformance } from './subject.ts';
import { World } from './world.ts';

conformance('6. Events', (subject) => {
  test('S6.1 S6.6 the stream opens with the key in the header, as server-sent events', async () => {
    const world = await World.make(subject());
    const stream = await world.stream();
    stream.close();
    expect(stream.status).toBe(200);
    expect(stream.headers.get('Content-Type')).toBe('text/event-stream');
  });

  test('S6.2 S6.4 a change makes one frame: a data line, an empty line, and nothing more', async () => {
    const world = await World.make(subject(), { flag: { enabled: false } });
    const stream = await world.stream();
    await stream.nextFrame();
    await world.put('flag', { enabled: true, value: 'line\nbreak \u2028 and 👍' });
    await stream.nextFrame();
    await world.put('flag', { enabled: false });
    await stream.nextFrame();
    stream.close();
    // Comments keep an idle stream alive and may stand between frames. [S12.6]
    const text = stream.text.replaceAll(/^:.*\n\n?/gm, '');
    expect(text).toBe(
      [
        'data: {"flag":{"enabled":false}}\n\n',
        `data: {"flag":{"enabled":true,"value":${JSON.stringify('line\nbreak \u2028 and 👍')}}}\n\n`,
        'data: {"flag":{"enabled":false}}\n\n',
      ].join(''),
    );
  });

  test('S6.3 a frame is the whole map, byte for byte the member "flags" of a whole read', async () => {
    const world = await World.make(subject(), {
      a: { enabled: true, value: { z: 1, a: 2 } },
      b: { enabled: false },
    });
    const stream = await world.stream();
    await stream.nextFrame();
    await world.put('b', { enabled: true });
    const { data } = await stream.nextFrame();
    stream.close();
    const whole = await (await world.fetch('/v1/flags?env=production')).text();
    expect(whole).toBe(`{"environment":"production","flags":${data}}`);
    expect(Object.keys(JSON.parse(data)).sort()).toEqual(['a', 'b']);
  });

  test('S6.3 a frame after the removal of the last flag is an empty map', async () => {
    const world = await World.make(subject(), { only: { enabled: true } });
    const stream = await world.stream();
    await stream.nextFrame();
    await world.management.removeState(world.project, 'production', 'only');
    expect((await stream.nextFrame()).raw).toBe('data: {}\n\n');
    stream.close();
  });
});
