/** The OpenFeature provider for on servers: `OpenFeature.setProviderAndWait(new HalyardProvider(client))`. */
import {
  type EvaluationContext,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  ProviderFatalError,
  type ResolutionDetails,
} from '@openfeature/server-sdk';
import type { FlagsClient } from '../client-types.ts';
import type { ClientOptions } from '../options.ts';
import { holdClient } from './follow.ts';
import { type Kind, type MappingOptions, resolve } from './resolve.ts';

export type { MappingOptions } from './resolve.ts';

/** Serves OpenFeature reads from a client. A client that was given stays the application's to close. */
export class HalyardProvider implements Provider {
  readonly metadata = { name: 'halyard' } as const;
  readonly runsOn = 'server';
  readonly events = new OpenFeatureEventEmitter();
  readonly #held;
  readonly #options: MappingOptions;

  constructor(client: FlagsClient | ClientOptions, options: MappingOptions = {}) {
    this.#held = holdClient(client);
    this.#options = options;
  }

  /** Waits for the first load. Rejects when it fails; the provider becomes ready later if the cause passes. */
  async initialize(): Promise<void> {
    const { events } = this;
    await this.#held.begin(
      (event, details) => events.emit(ProviderEvents[event], details),
      ProviderFatalError,
    );
  }

  /** Ends the provider's work. */
  async onClose(): Promise<void> {
    await this.#held.release();
  }

  async resolveBooleanEvaluation(
    key: string,
    value: boolean,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<boolean>> {
    return this.#read('boolean', key, value, context);
  }

  async resolveStringEvaluation(
    key: string,
    value: string,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<string>> {
    return this.#read('string', key, value, context);
  }

  async resolveNumberEvaluation(
    key: string,
    value: number,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<number>> {
    return this.#read('number', key, value, context);
  }

  async resolveObjectEvaluation<T extends JsonValue>(
    key: string,
    value: T,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<T>> {
    return this.#read('object', key, value, context);
  }

  #read<T>(
    kind: Kind,
    key: string,
    defaultValue: T,
    { targetingKey }: EvaluationContext,
  ): ResolutionDetails<T> {
    return resolve(this.#held.client, { key, kind, defaultValue, targetingKey }, this.#options);
  }
}
