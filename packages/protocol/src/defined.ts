/** An object type whose members that may be `undefined` are optional instead. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The members that are not `undefined`: absent members are left out, as `exactOptionalPropertyTypes` wants it. */
export function defined<T extends object>(members: T): Defined<T> {
  // `Defined`: exactly the members that it makes optional are the ones that may be left out here.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;
}
