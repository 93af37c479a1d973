import type { Engine } from './engine';
import { redisVersion } from './identity';
import { databaseCount } from './store';

type Section = readonly [title: string, lines: readonly string[]];

/** The text of INFO: the sections asked for, or all of them. */
export function infoText(engine: Engine, asked: readonly string[]): string {
  const isAll = asked.length === 0 || asked.some((name) => ['all', 'default', 'everything'].includes(name));
  return sections(engine)
    .filter(([title]) => isAll || asked.includes(title.toLowerCase()))
    .map(([title, lines]) => [`# ${title}`, ...lines, ''].join('\r\n'))
    .join('\r\n');
}

function sections(engine: Engine): readonly Section[] {
  const { nowMs } = engine.store;
  const { identity } = engine.options;
  const uptime = Math.max(0, Math.floor((nowMs - engine.startedMs) / 1000));
  const memory = process.memoryUsage();
  return [
    [
      'Server',
      [
        `redis_version:${redisVersion}`,
        `embedded_version:${identity.version}`,
        ...['redis_mode:standalone', `os:${process.platform}`, 'arch_bits:64', `process_id:${process.pid}`],
        ...[`tcp_port:${identity.port}`, `server_time_usec:${nowMs * 1000}`],
        ...[`uptime_in_seconds:${uptime}`, `uptime_in_days:${Math.floor(uptime / 86400)}`],
      ],
    ],
    [
      'Clients',
      [
        `connected_clients:${engine.sessions.size}`,
        ...['cluster_connections:0', 'maxclients:1000', `blocked_clients:${engine.blocking.count}`],
      ],
    ],
    [
      'Memory',
      [
        `used_memory:${memory.heapUsed + memory.external}`,
        `used_memory_rss:${memory.rss}`,
        ...['maxmemory:0', 'maxmemory_policy:noeviction', 'mem_fragmentation_ratio:1.00'],
      ],
    ],
    [
      'Persistence',
      [
        ...['loading:0', 'async_loading:0', 'rdb_changes_since_last_save:0', 'rdb_bgsave_in_progress:0'],
        ...['rdb_last_save_time:0', 'rdb_last_bgsave_status:ok', 'aof_enabled:0', 'aof_last_write_status:ok'],
      ],
    ],
    [
      'Stats',
      [
        `total_connections_received:${engine.stats.connections}`,
        `total_commands_processed:${engine.stats.commands}`,
        ...[`rejected_connections:${engine.stats.rejected}`, `total_error_replies:${engine.stats.errors}`],
        ...['instantaneous_ops_per_sec:0', 'evicted_keys:0', 'expired_keys:0'],
      ],
    ],
    ['Replication', ['role:master', 'connected_slaves:0', 'master_failover_state:no-failover', 'master_repl_offset:0']],
    ['Cluster', ['cluster_enabled:0']],
    ['Keyspace', keyspaceLines(engine)],
  ];
}

function keyspaceLines(engine: Engine): string[] {
  const lines: string[] = [];
  for (let i = 0; i < databaseCount; i++) {
    const { size, expiringCount } = engine.store.database(i);
    if (size > 0) lines.push(`db${i}:keys=${size},expires=${expiringCount},avg_ttl=0`);
  }
  return lines;
}
