/** The OpenFeature provider for browsers: `OpenFeature.setProviderAndWait(new HalyardProvider(client))`. */
import {
  type EvaluationContext,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  ProviderFatalError,
  type ResolutionDetails,
} from '@openfeature/web-sdk';
import { ClientProvider, type Emit } from './provider.ts';

export type { ClientProvider } from './provider.ts';
export type { MappingOptions } from './resolve.ts';

/**
 * An OpenFeature provider that reads from a client. If you pass a client instead of options, you also close it.
 *
 * @example
 * ```ts
 * await OpenFeature.setProviderAndWait(
 *   new HalyardProvider({ apiKey: false, environment: 'production', baseUrl: '/flags' }),
 * );
 * ```
 */
export class HalyardProvider extends ClientProvider implements Provider {
  readonly runsOn = 'client';
  readonly events = new OpenFeatureEventEmitter();
  protected readonly Fatal = ProviderFatalError;
  protected emit: Emit = (event, details) => this.events.emit(ProviderEvents[event], details);

  resolveBooleanEvaluation(
    key: string,
    value: boolean,
    context: EvaluationContext,
  ): ResolutionDetails<boolean> {
    return this.read('boolean', key, value, context);
  }

  resolveStringEvaluation(key: string, value: string, context: EvaluationContext): ResolutionDetails<string> {
    return this.read('string', key, value, context);
  }

  resolveNumberEvaluation(key: string, value: number, context: EvaluationContext): ResolutionDetails<number> {
    return this.read('number', key, value, context);
  }

  resolveObjectEvaluation<T extends JsonValue>(
    key: string,
    value: T,
    context: EvaluationContext,
  ): ResolutionDetails<T> {
    return this.read('object', key, value, context);
  }
}
