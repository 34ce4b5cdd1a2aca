/** The OpenFeature provider for servers: `OpenFeature.setProviderAndWait(new HalyardProvider(client))`. */
import {
  type EvaluationContext,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  ProviderFatalError,
  type ResolutionDetails,
} from '@openfeature/server-sdk';
import { ClientProvider, type Emit } from './provider.ts';

export type { ClientProvider } from './provider.ts';
export type { MappingOptions } from './resolve.ts';

/**
 * An OpenFeature provider that reads from a client. If you pass a client instead of options, you also close it.
 *
 * @example
 * ```ts
 * await OpenFeature.setProviderAndWait(new HalyardProvider({ apiKey, environment: 'production' }));
 * ```
 */
export class HalyardProvider extends ClientProvider implements Provider {
  readonly runsOn = 'server';
  readonly events = new OpenFeatureEventEmitter();
  protected readonly Fatal = ProviderFatalError;
  protected emit: Emit = (event, details) => this.events.emit(ProviderEvents[event], details);

  async resolveBooleanEvaluation(
    key: string,
    value: boolean,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<boolean>> {
    return this.read('boolean', key, value, context);
  }

  async resolveStringEvaluation(
    key: string,
    value: string,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<string>> {
    return this.read('string', key, value, context);
  }

  async resolveNumberEvaluation(
    key: string,
    value: number,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<number>> {
    return this.read('number', key, value, context);
  }

  async resolveObjectEvaluation<T extends JsonValue>(
    key: string,
    value: T,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<T>> {
    return this.read('object', key, value, context);
  }
}
