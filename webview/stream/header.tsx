/** The panel's header: where this is, how the stream stands, its groups, and the toolbar. */
import type { JSX } from 'preact';
import type { ConnectionView, StreamOverview } from '../../src/protocol/streamPanel';
import { Button } from '../controls';
import { ErrorNote } from '../errorNote';
import { figureOrigin, formatBytes, formatCount, formatDuration, formatFullTime, formatTime } from '../format';
import { Icon } from '../icons';
import { t } from '../l10n';
import { SafeText } from '../safeText';
import { idTimeMs } from './idTime';
import { GroupChips } from './groupChips';
import type { StreamModel } from './streamModel';

/** Draws the header; before the first answer only its frame. */
export function Header({ model }: { model: StreamModel }): JSX.Element {
  const overview = model.overview.data.value;
  const connection = model.connection.value;
  const error = model.overview.error.value;
  const actionError = model.actionError.value;
  return (
    <header class="header">
      <div class="header-line">
        {overview && connection ? (
          <Place connection={connection} overview={overview} />
        ) : (
          <PlaceSkeleton model={model} />
        )}
        <Toolbar model={model} />
      </div>
      {overview ? <Facts model={model} overview={overview} /> : null}
      {overview && (overview.groups.length > 0 || overview.deadLetters) ? (
        <GroupChips model={model} overview={overview} />
      ) : null}
      <ConnectionProblem model={model} />
      {error ? <ErrorNote model={model} error={error} onRetry={() => void model.retry(() => model.refresh())} /> : null}
      {actionError ? <ErrorNote model={model} error={actionError} /> : null}
    </header>
  );
}

function Place({ connection, overview }: { connection: ConnectionView; overview: StreamOverview }): JSX.Element {
  return (
    <h1 class="place">
      <span class={`environment-dot ${connection.environment}`} aria-hidden="true" />
      <span class="connection-name" title={environmentText(connection)}>
        <SafeText text={connection.name} />
      </span>
      <Icon name="chevronRight" class="muted" />
      <span class="stream-name" title={overview.stream.display}>
        <SafeText text={overview.stream.display} />
      </span>
      <span class={`environment-tag ${connection.environment}`}>{environmentName(connection)}</span>
      {connection.isReadOnly ? (
        <span class="plain-tag" title={t('This connection is read-only: nothing here can change the server.')}>
          <Icon name="lock" />
          {t('read-only')}
        </span>
      ) : null}
    </h1>
  );
}

function PlaceSkeleton({ model }: { model: StreamModel }): JSX.Element {
  return (
    <h1 class="place">
      {model.overview.isSlow.value || model.session.isSlow.value ? <span class="skeleton wide" /> : null}
      <span class="visually-hidden">{t('Stream')}</span>
    </h1>
  );
}

function Toolbar({ model }: { model: StreamModel }): JSX.Element {
  const isUtc = model.layout.zone.value === 'utc';
  return (
    <div class="toolbar" role="toolbar" aria-label={t('Stream')}>
      <Button icon="refresh" label={t('Refresh')} onClick={() => void model.refresh()} />
      <Button
        icon="globe"
        label={isUtc ? t('UTC') : t('Local time')}
        title={isUtc ? t('Times are in UTC. Show local times.') : t('Times are local. Show UTC.')}
        onClick={() => {
          model.layout.zone.value = isUtc ? 'local' : 'utc';
        }}
      />
      <Button
        icon="copy"
        label={t('Copy Name')}
        onClick={() => void model.copy({ what: 'stream' }, t('The name of the stream was copied.'))}
      />
      <Button
        icon="terminal"
        label={t('Copy redis-cli')}
        title={t('Copy the redis-cli lines that show the same')}
        onClick={() => void model.copy({ what: 'commands', id: null }, t('The redis-cli lines were copied.'))}
      />
    </div>
  );
}

function Facts({ model, overview }: { model: StreamModel; overview: StreamOverview }): JSX.Element {
  const { memoryBytes, timeToLiveMs } = overview;
  return (
    <dl class="facts">
      <div class="fact">
        <dt class="visually-hidden">{t('Length')}</dt>
        <dd class="length">{formatCount(overview.length, '{0} entry', '{0} entries')}</dd>
      </div>
      <EndFact model={model} label={t('first')} id={overview.firstId} end="oldest" />
      <EndFact model={model} label={t('last')} id={overview.lastId} end="newest" />
      <div class="fact">
        <dt>{t('memory')}</dt>
        <dd title={figureOrigin(memoryBytes)}>
          {memoryBytes.kind === 'unknown' ? t('unknown') : `≈ ${formatBytes(memoryBytes.value)}`}
        </dd>
      </div>
      {timeToLiveMs === null ? null : (
        <div class="fact">
          <dt>{t('expires in')}</dt>
          <dd title={t('The key has a time to live (PTTL): the whole stream is deleted then.')}>
            {formatDuration(timeToLiveMs)}
          </dd>
        </div>
      )}
    </dl>
  );
}

function EndFact(props: {
  model: StreamModel;
  label: string;
  id: string | null;
  end: 'newest' | 'oldest';
}): JSX.Element | null {
  const { model, label, id, end } = props;
  if (id === null) return null;
  const zone = model.layout.zone.value;
  const ms = idTimeMs(id);
  return (
    <div class="fact">
      <dt>{label}</dt>
      <dd>
        <button
          type="button"
          class="link mono"
          title={end === 'newest' ? t('Go to the newest entry') : t('Go to the oldest entry')}
          onClick={() => void model.goToEnd(end)}
        >
          {id}
        </button>
        {ms === null ? null : (
          <span class="muted" title={formatFullTime(ms, zone)}>
            {formatTime(ms, zone, model.serverNowMs())}
          </span>
        )}
      </dd>
    </div>
  );
}

function ConnectionProblem({ model }: { model: StreamModel }): JSX.Element | null {
  const connection = model.connection.value;
  const readAt = model.readAtMs.value;
  if (!connection || !hasProblem(connection, readAt !== null)) return null;
  const shown = readAt === null ? '' : t('What is shown was read at {0}.', formatTime(readAt, model.layout.zone.value));
  return (
    <div class="notice" role="status">
      <Icon name="warning" />
      <span>
        <SafeText text={connection.problem ?? connectionStateText(connection)} /> {shown}
      </span>
      <Button icon="refresh" label={t('Retry')} onClick={() => void model.retry(() => model.refresh())} />
    </div>
  );
}

/** Before anything was read a connection is made on the way, and its failure is shown by what could not be read. */
function hasProblem({ state, problem }: ConnectionView, wasRead: boolean): boolean {
  return state !== 'connected' && wasRead && (state !== 'disconnected' || problem !== undefined);
}

function connectionStateText({ name, state }: ConnectionView): string {
  if (state === 'connecting') return t('Connecting to {0}…', name);
  return state === 'lost' ? t('The connection to {0} is lost.', name) : t('{0} is not connected.', name);
}

function environmentName({ environment }: ConnectionView): string {
  return { local: t('local'), development: t('development'), staging: t('staging'), production: t('production') }[
    environment
  ];
}

function environmentText(connection: ConnectionView): string {
  return `${connection.name} · ${environmentName(connection)} · ${connection.isReadOnly ? t('read-only') : t('writable')}`;
}
