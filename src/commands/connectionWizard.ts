import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { parseRedisUrl } from '../bus';
import { displayText } from '../base/byteText';
import { addressOf, isLoopbackUrl, splitSecrets, userOf } from '../connections/connectionUrl';
import type { Secrets } from '../connections/connectionUrl';
import { connectionId, environmentColor, environments } from '../connections/profiles';
import type { ConnectionProfile, Environment } from '../connections/profiles';
import { testConnection } from '../connections/testConnection';
import { environmentText, serverText } from '../tree/phrases';
import { askChoice, askText, runSteps } from '../ui/multiStepInput';
import type { Step, StepResult } from '../ui/multiStepInput';
import { withProgress } from '../ui/pickers';
import type { CommandServices } from './commandServices';

/** What the wizard gathers. */
interface Draft {
  url: string;
  name: string;
  environment: Environment | undefined;
  secrets: Secrets | undefined;
}

const totalSteps = 3;

/** Asks for a connection's URL, name and environment, tests it, and saves it. Adds a new one, or edits the given one. */
export async function runConnectionWizard(services: CommandServices, edited?: ConnectionProfile): Promise<void> {
  const title = edited ? vscode.l10n.t('Edit Connection') : vscode.l10n.t('Add Connection');
  const draft: Draft = {
    url: edited?.url ?? '',
    name: edited?.name ?? '',
    environment: edited?.environment,
    secrets: edited && (await services.connections.secretsOf(edited)),
  };
  let toldServer: string | undefined;
  const tested: Step = async ({ canGoBack }) => {
    const outcome = await testDraft(services, title, draft, edited, canGoBack);
    if (outcome.kind !== 'value') return outcome.kind;
    toldServer = outcome.value;
    return 'next';
  };
  const isDone = await runSteps([askUrl(title, draft), askName(title, draft), askEnvironment(title, draft), tested]);
  if (!isDone) return;
  const profile = profileOf(draft, edited);
  const connection = await services.connections.save(profile, draft.secrets);
  if (!connection) return;
  const shownName = displayText(profile.name);
  if (toldServer === undefined) {
    services.notifications.status(vscode.l10n.t('Saved {0}', shownName));
  } else {
    services.notifications.status(vscode.l10n.t('Connected to {0}: {1}', shownName, toldServer));
    await connection.connect();
  }
  await services.explorer.reveal(services.explorer.model.nodeOf(connection));
}

function askUrl(title: string, draft: Draft): Step {
  return async (place) => {
    const result = await askText({
      ...place,
      title,
      totalSteps,
      prompt: vscode.l10n.t('URL of the server. A password in it is kept in the secret storage and nowhere else.'),
      placeholder: 'redis://user@127.0.0.1:6379/0',
      value: draft.url === '' ? 'redis://127.0.0.1:6379' : draft.url,
      validate: (text) => urlProblem(text),
    });
    if (result.kind !== 'value') return result.kind;
    const { url, secrets } = splitSecrets(result.value);
    if (secrets) draft.secrets = secrets;
    else if (url !== draft.url) draft.secrets = undefined;
    draft.url = url;
    return 'next';
  };
}

function askName(title: string, draft: Draft): Step {
  return async (place) => {
    const result = await askText({
      ...place,
      title,
      totalSteps,
      prompt: vscode.l10n.t('Name of the connection, as the explorer shows it'),
      value: draft.name === '' ? addressOf(draft.url) : draft.name,
      validate: (text) => (text.trim() === '' ? vscode.l10n.t('A connection needs a name.') : undefined),
    });
    if (result.kind !== 'value') return result.kind;
    draft.name = result.value.trim();
    return 'next';
  };
}

function askEnvironment(title: string, draft: Draft): Step {
  return async (place) => {
    const isLoopback = isLoopbackUrl(draft.url);
    const selected = draft.environment ?? (isLoopback ? 'local' : undefined);
    const result = await askChoice<Environment>({
      ...place,
      title,
      totalSteps,
      placeholder: isLoopback
        ? vscode.l10n.t('Environment: this machine, unless it is a tunnel to somewhere else')
        : vscode.l10n.t('Environment: what would a mistake on this server cost?'),
      items: environments.map((environment) => ({
        label: environmentText(environment, { l10n: vscode.l10n, locale: vscode.env.language }),
        description: environmentMeaning(environment),
        icon: { id: 'server-environment', color: environmentColor(environment) },
        value: environment,
      })),
      ...(selected === undefined ? {} : { selected }),
    });
    if (result.kind !== 'value') return result.kind;
    draft.environment = result.value;
    return 'next';
  };
}

/** Tests what was entered; what the server is, or undefined when the person chose to save without. */
async function testDraft(
  services: CommandServices,
  title: string,
  draft: Draft,
  edited: ConnectionProfile | undefined,
  canGoBack: boolean,
): Promise<StepResult<string | undefined>> {
  for (;;) {
    const profile = profileOf(draft, edited);
    const test = await withProgress(vscode.l10n.t('Connecting to {0}…', displayText(draft.name)), () =>
      testConnection(profile, draft.secrets, services.openPort, vscode.l10n),
    );
    if (test.ok) return { kind: 'value', value: serverText(test.server.kind, test.server.version) };
    if (test.failure.reason === 'authentication') {
      const asked = await askPassword(services, title, draft, profile, test.failure.message, canGoBack);
      if (asked.kind !== 'value') return asked;
      continue;
    }
    const choice = await askChoice<'edit' | 'again' | 'save'>({
      title,
      step: totalSteps,
      totalSteps,
      canGoBack,
      placeholder: test.failure.message,
      items: [
        { label: vscode.l10n.t('Edit What Was Entered'), description: test.failure.message, value: 'edit' },
        { label: vscode.l10n.t('Try Again'), description: displayText(draft.url), value: 'again' },
        { label: vscode.l10n.t('Save Without Connecting'), value: 'save' },
      ],
    });
    if (choice.kind !== 'value') return choice;
    if (choice.value === 'edit') return { kind: 'back' };
    if (choice.value === 'save') return { kind: 'value', value: undefined };
  }
}

/** Asks for the password, hidden, and keeps asking until the server takes it. */
async function askPassword(
  services: CommandServices,
  title: string,
  draft: Draft,
  profile: ConnectionProfile,
  why: string,
  canGoBack: boolean,
): Promise<StepResult<string>> {
  const result = await askText({
    title,
    step: totalSteps,
    totalSteps,
    canGoBack,
    password: true,
    prompt: draft.secrets
      ? why
      : vscode.l10n.t('Password of user {0}, kept in the secret storage', displayText(userOf(draft.url) ?? 'default')),
    submit: async (password) => {
      const secrets = { ...draft.secrets, password };
      const test = await testConnection(profile, secrets, services.openPort, vscode.l10n);
      return !test.ok && test.failure.reason === 'authentication' ? test.failure.message : undefined;
    },
  });
  if (result.kind === 'value') draft.secrets = { ...draft.secrets, password: result.value };
  return result;
}

function profileOf(draft: Draft, edited: ConnectionProfile | undefined): ConnectionProfile {
  return {
    id: edited?.id ?? connectionId(`saved/${randomUUID()}`),
    name: draft.name,
    url: draft.url,
    environment: draft.environment ?? 'production',
    source: 'saved',
  };
}

function urlProblem(text: string): string | undefined {
  try {
    parseRedisUrl(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : vscode.l10n.t('This is not a URL of a Redis server.');
  }
}

function environmentMeaning(environment: Environment): string {
  switch (environment) {
    case 'local':
      return vscode.l10n.t('on this machine; nothing is guarded');
    case 'development':
      return vscode.l10n.t('shared by developers; starts read-only');
    case 'staging':
      return vscode.l10n.t('like production, without its data; starts read-only');
    case 'production':
      return vscode.l10n.t('real data; starts read-only, never refreshes by itself');
  }
}
