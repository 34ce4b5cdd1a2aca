/** How each type of flag is read with an SDK of OpenFeature for JavaScript. */
const READS = {
  boolean: 'getBooleanDetails',
  string: 'getStringDetails',
  integer: 'getNumberDetails',
  float: 'getNumberDetails',
  object: 'getObjectDetails',
};

/**
 * The steps that `README.md` describes. `connect` sets a new provider; `read(method, key, fallback, context)` returns
 * OpenFeature's details of one flag.
 */
export function openFeatureSteps(connect, read) {
  async function evaluate({ type, key, default: fallback, targetingKey, attributes }) {
    const context = { ...attributes, ...(targetingKey !== undefined && { targetingKey }) };
    const details = await read(READS[type], key, fallback, context);
    const { value, reason, variant, errorCode, flagMetadata } = details;
    return { value, reason, variant, errorCode, metadata: flagMetadata };
  }

  return {
    async connect(step) {
      await connect(step);
      return {};
    },

    evaluate,
    async evaluateMany({ targetingKeys, ...step }) {
      const values = [];
      for (const targetingKey of targetingKeys)
        values.push((await evaluate({ ...step, targetingKey })).value);
      return { values };
    },

    /** How long reads take: a boolean, again and again. */
    async time({ key, targetingKey, ms }) {
      const context = { targetingKey };
      const begun = performance.now();
      let reads = 0;
      let spent = 0;
      while (spent < ms) {
        for (let count = 0; count < 100; count++) await read('getBooleanValue', key, false, context);
        reads += 100;
        spent = performance.now() - begun;
      }
      return { reads, nanoseconds: spent * 1e6 };
    },
  };
}
