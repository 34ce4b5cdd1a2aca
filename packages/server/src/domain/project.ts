/** A project: the owner of environments, flags and keys. */
export interface Project {
  readonly id: string;
  /** Unique slug, immutable; what people and programs call it. */
  readonly name: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}
