import { connectRedis } from '../bus';
import type { OpenPort } from './inspectPort';

/** Opens a client to a real server. */
export const openRedisPort: OpenPort = (url, { onClosed }) =>
  connectRedis({ url, clientName: 'redis-streams-debugger', onLost: onClosed });
