import { fileURLToPath } from 'node:url';

/** This folder is the whole application, although other projects may lie around it. */
export default { turbopack: { root: fileURLToPath(new URL('.', import.meta.url)) } };
