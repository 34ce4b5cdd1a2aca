/** Any JSON value, as `JSON.parse` returns it. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };
