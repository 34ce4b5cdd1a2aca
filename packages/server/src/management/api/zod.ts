import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';

extendZodWithOpenApi(z);

/** Zod, whose schemas also describe themselves in the OpenAPI document. */
export { z };
