import { createFlagsHandler } from '@halyard/client/handler';
import { flags } from '../../server-flags.js';

const handler = createFlagsHandler({ client: flags });

export const dynamic = 'force-dynamic';
export const GET = handler;
export const POST = handler;
