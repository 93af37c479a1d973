// User settings with which VS Code shows only what a test makes it show.

/** Written into the user settings of every window under test. */
export const quietSettings = {
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'workbench.tree.enableStickyScroll': false,
  'window.commandCenter': false,
  'window.title': '${activeEditorShort}${separator}${rootName}',
  'remote.autoForwardPorts': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'npm.autoDetect': 'off',
  'telemetry.telemetryLevel': 'off',
  'debug.javascript.autoAttachFilter': 'disabled',
} as const;
