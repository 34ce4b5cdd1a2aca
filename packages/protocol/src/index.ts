/** The facts of Halyard's wire: no dependencies, no I/O. */
export * from './closed-sets.ts';
export * from './defined.ts';
export * from './errors.ts';
export * from './evaluate.ts';
export * from './flag-state.ts';
export * from './headers.ts';
export * from './json.ts';
export * from './json-text.ts';
export * from './lost-answer.ts';
export * from './names.ts';
export * from './ofrep.ts';
export * from './project-key.ts';
export * from './requests.ts';
export * from './rollout.ts';
export * from './rollout-plan.ts';
export * from './sse.ts';
export * from './usage.ts';
