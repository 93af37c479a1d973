// What the tests may ask of VS Code through the bridge; each takes one JSON value and answers with one.

'use strict';

const vscode = require('vscode');

exports.createOperations = (context, emit) => {
  const sessions = trackDebugSessions(context, emit);
  return {
    executeCommand: ({ command, args }) => vscode.commands.executeCommand(command, ...args),
    commands: ({ prefix }) =>
      vscode.commands.getCommands(true).then((all) => all.filter((command) => command.startsWith(prefix)).sort()),
    setting: ({ name }) => vscode.workspace.getConfiguration().get(name),
    updateSetting: ({ name, value }) =>
      vscode.workspace.getConfiguration().update(name, value ?? undefined, vscode.ConfigurationTarget.Global),
    extension: ({ id }) => describeExtension(id),
    activate: ({ id }) =>
      extension(id)
        .activate()
        .then(() => describeExtension(id)),
    debugSessions: () => [...sessions.values()].map(describeSession),
    activeDebugSession: () => vscode.debug.activeDebugSession && describeSession(vscode.debug.activeDebugSession),
    debugRequest: ({ session, command, args }) => {
      const found = sessions.get(session);
      if (found === undefined) throw new Error(`No debug session ${session} is running.`);
      return found.customRequest(command, args);
    },
    startDebugging: ({ configuration }) =>
      vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], configuration),
    stopDebugging: () => vscode.debug.stopDebugging(),
    addBreakpoint: ({ path, line }) => {
      const location = new vscode.Location(vscode.Uri.file(path), new vscode.Position(line - 1, 0));
      vscode.debug.addBreakpoints([new vscode.SourceBreakpoint(location)]);
    },
    removeBreakpoints: () => vscode.debug.removeBreakpoints(vscode.debug.breakpoints),
    documents: () => vscode.workspace.textDocuments.map(describeDocument),
    tabs: () => vscode.window.tabGroups.all.flatMap((group) => group.tabs.map(describeTab)),
    terminals: () => vscode.window.terminals.map(describeTerminal),
    readClipboard: () => vscode.env.clipboard.readText(),
    writeClipboard: ({ text }) => vscode.env.clipboard.writeText(text),
    evaluate: ({ source, argument }) => evaluate(source, argument),
  };
};

function extension(id) {
  const found = vscode.extensions.getExtension(id);
  if (found === undefined) throw new Error(`No extension ${id} is installed.`);
  return found;
}

function describeExtension(id) {
  const found = extension(id);
  // Reading `exports` of an extension that is not active throws.
  const exported = found.isActive ? Object.keys(Object(found.exports)) : [];
  return {
    id,
    isActive: found.isActive,
    version: found.packageJSON.version,
    path: found.extensionPath,
    exports: exported,
  };
}

function trackDebugSessions(context, emit) {
  const sessions = new Map();
  context.subscriptions.push(
    vscode.debug.onDidStartDebugSession((session) => {
      sessions.set(session.id, session);
      emit('debugSessionStarted', describeSession(session));
    }),
    vscode.debug.onDidTerminateDebugSession((session) => {
      sessions.delete(session.id);
      emit('debugSessionEnded', describeSession(session));
    }),
    vscode.debug.registerDebugAdapterTrackerFactory('*', {
      createDebugAdapterTracker: (session) => ({
        onDidSendMessage(message) {
          if (message.type !== 'event') return;
          emit('debugEvent', { session: session.id, event: message.event, body: message.body ?? null });
        },
      }),
    }),
  );
  return sessions;
}

function describeSession({ id, name, type, configuration, parentSession }) {
  return { id, name, type, configuration, parent: parentSession?.id ?? null };
}

function describeDocument(document) {
  const { uri, languageId, isDirty, isUntitled } = document;
  return { uri: uri.toString(), languageId, isDirty, isUntitled, text: document.getText() };
}

function describeTab({ label, isActive, isDirty, isPreview, input }) {
  return {
    label,
    isActive,
    isDirty,
    isPreview,
    uri: input?.uri?.toString() ?? null,
    viewType: input?.viewType ?? null,
  };
}

function describeTerminal({ name, creationOptions, exitStatus }) {
  return { name, creationOptions, exitStatus: exitStatus ?? null };
}

// The source is a function of (vscode, argument). The loader of the tests wraps named functions in __name.
function evaluate(source, argument) {
  const run = new Function(
    'vscode',
    'argument',
    'require',
    `const __name = (f) => f; return (${source})(vscode, argument);`,
  );
  return run(vscode, argument, require);
}
