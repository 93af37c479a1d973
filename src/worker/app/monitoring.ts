import type { HandlerLog } from '../../bus';
import { openMonitoring } from '../telemetry/openMonitoring';
import type { Monitoring } from '../telemetry/openMonitoring';
import type { AppOptions } from './appOptions';

/** Opens what monitoring asks a process, on loopback, when a port for it is given, and says where it is. */
export async function startMonitoring(
  { metricsPort }: Pick<AppOptions, 'metricsPort'>,
  log: HandlerLog,
  besides: { readonly isReady?: () => boolean } = {},
): Promise<Monitoring> {
  const monitoring = await openMonitoring(metricsPort, besides);
  if (monitoring.port !== undefined) log.info(`Serving /metrics, /healthz and /readyz on 127.0.0.1:${monitoring.port}`);
  return monitoring;
}
