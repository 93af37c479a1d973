import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { ConnectionRegistry } from '../connections/connectionRegistry';
import type { Log } from '../ui/log';
import type { Notifications } from '../ui/notifications';
import { chooseFile } from '../ui/pickers';
import { askTarget } from './askTarget';
import { LaunchError } from './launchPlan';
import { checkNode } from './nodeProgram';
import type { NodeCheck } from './nodeProgram';
import { nodeConfiguration, substitute } from './nodeConfiguration';
import { readWorkerConfiguration, workerDebugType } from './workerConfiguration';
import type { WorkerConfiguration } from './workerConfiguration';
import type { WorkerLauncher } from './workerLauncher';

/** What resolving configurations needs. */
export interface ConfigurationProviderDeps {
  readonly connections: ConnectionRegistry;
  readonly launcher: WorkerLauncher;
  readonly extensionPath: string;
  readonly notifications: Notifications;
  readonly log: Log;
}

/** How many streams of a connection are offered as configurations. */
const maxOffered = 50;

/** Turns a configuration of our type into a launch of Node's debugger, or says what is wrong with it. */
export class WorkerConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(private readonly deps: ConfigurationProviderDeps) {}

  async resolveDebugConfiguration(
    folder: vscode.WorkspaceFolder | undefined,
    given: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    try {
      const raw = isEmpty(given) ? await this.askFor() : given;
      return raw && (await this.resolve(folder, raw));
    } catch (error) {
      this.deps.log.error('A worker could not be launched', error);
      const message = error instanceof Error ? error.message : String(error);
      if (LaunchError.is(error)) await this.tellProblem(message, folder);
      else await this.deps.notifications.error(vscode.l10n.t('Cannot debug a worker: {0}', message));
      return undefined;
    }
  }

  private async resolve(
    folder: vscode.WorkspaceFolder | undefined,
    given: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    const folderPath = folder?.uri.fsPath ?? vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const raw = substituted(given, folderPath);
    const outcome = readWorkerConfiguration(raw, { l10n: vscode.l10n, folder: folderPath });
    if ('problem' in outcome) throw new LaunchError(outcome.problem.attribute, outcome.problem.message);
    const configuration = await this.withNode(outcome.configuration);
    const prepared = configuration && (await this.deps.launcher.prepare(configuration));
    if (!prepared) return undefined;
    const { session, launchFile } = prepared;
    return nodeConfiguration({
      configuration,
      raw,
      extensionPath: this.deps.extensionPath,
      folder: folderPath,
      launchFile,
      session: session.id,
    });
  }

  /** F5 without a launch.json: asks what to debug. */
  private async askFor(): Promise<vscode.DebugConfiguration | undefined> {
    const target = await askTarget({}, { connections: this.deps.connections, l10n: vscode.l10n });
    return (
      target && {
        type: workerDebugType,
        request: 'launch',
        name: vscode.l10n.t('Sample worker'),
        connection: target.connection.profile.id,
        stream: target.stream,
        ...(target.group === undefined ? {} : { group: target.group }),
      }
    );
  }

  /** The configuration with a Node that is there; undefined when there is none. */
  private async withNode(configuration: WorkerConfiguration): Promise<WorkerConfiguration | undefined> {
    const { runtimeExecutable } = configuration;
    const check = await checkNode(runtimeExecutable, process.env);
    if (check.kind === 'found') return configuration;
    let chosen: string | undefined;
    await this.deps.notifications.error(
      nodeProblem(check, runtimeExecutable),
      {
        title: vscode.l10n.t('Choose Node…'),
        run: async () => {
          chosen = await chooseFile(vscode.l10n.t('Choose the Node to run the worker with'));
        },
      },
      openLaunchFile(),
    );
    return chosen === undefined ? undefined : this.withNode({ ...configuration, runtimeExecutable: chosen });
  }

  private tellProblem(message: string, folder: vscode.WorkspaceFolder | undefined): Promise<void> {
    const sentence = vscode.l10n.t('Cannot launch this configuration. {0}', message);
    return this.deps.notifications.error(sentence, ...(folder ? [openLaunchFile()] : []));
  }
}

/** Offers a configuration for every stream and group of the connections that are connected now; connects to none. */
export class DynamicConfigurations implements vscode.DebugConfigurationProvider {
  constructor(private readonly connections: ConnectionRegistry) {}

  async provideDebugConfigurations(): Promise<vscode.DebugConfiguration[]> {
    const connected = this.connections.list().filter(({ state }) => state.kind === 'connected');
    const lists = await Promise.all(
      connected.map(async (connection) => {
        const { name } = connection.profile;
        const targets = await connection.read(
          async (inspect) => {
            const { keys } = await inspect.scanStreams('0', { count: 1000 });
            const offered = [...new Set(keys)].sort().slice(0, maxOffered);
            return Promise.all(
              offered.map(async (stream) => ({ stream, groups: await inspect.groupInfos(stream).catch(() => []) })),
            );
          },
          { lane: 'bulk' },
        );
        return targets.flatMap(({ stream, groups }) =>
          (groups.length === 0 ? [undefined] : groups).map((group) => ({
            type: workerDebugType,
            request: 'launch',
            name: `${name}: ${stream}${group ? `/${group.name}` : ''}`,
            connection: name,
            stream,
            ...(group ? { group: group.name } : {}),
          })),
        );
      }),
    );
    return lists.flat();
  }
}

/** VS Code asks with an empty configuration when there is no launch.json. */
function isEmpty(given: Partial<vscode.DebugConfiguration>): boolean {
  return given.type === undefined && given.request === undefined && given.name === undefined;
}

/** Our own paths with their variables put in; VS Code does that only after the configuration has become one of Node's. */
function substituted(given: vscode.DebugConfiguration, folder: string | undefined): vscode.DebugConfiguration {
  const values = {
    folder,
    file: vscode.window.activeTextEditor?.document.uri.fsPath,
    home: homedir(),
    env: process.env,
  };
  const result = { ...given };
  for (const attribute of ['handler', 'runtimeExecutable']) {
    const value: unknown = given[attribute];
    if (typeof value !== 'string') continue;
    const outcome = substitute(value, values);
    if ('unknown' in outcome)
      throw new LaunchError(attribute, vscode.l10n.t('{0}: {1} has no value here.', attribute, outcome.unknown));
    result[attribute] = outcome.text;
  }
  return result;
}

function nodeProblem(check: Exclude<NodeCheck, { readonly kind: 'found' }>, executable: string | undefined): string {
  switch (check.kind) {
    case 'missing':
      return executable === undefined
        ? vscode.l10n.t(
            'Cannot launch a worker: there is no node on the PATH of VS Code. Install Node.js, or name one as runtimeExecutable.',
          )
        : vscode.l10n.t('runtimeExecutable: there is no program {0}.', executable);
    case 'too-old':
      return vscode.l10n.t(
        'Cannot launch a worker: {0} is Node {1}, and 20.19 or later is needed.',
        check.path,
        check.version,
      );
    case 'not-node':
      return vscode.l10n.t('runtimeExecutable: {0} does not answer as Node does.', check.path);
  }
}

function openLaunchFile(): { readonly title: string; run(): unknown } {
  return {
    title: vscode.l10n.t('Open launch.json'),
    run: () => vscode.commands.executeCommand('workbench.action.debug.configure'),
  };
}
