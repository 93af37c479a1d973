// The colour themes in which screenshots are taken. Tested by ../harness.test.ts.

/** The themes by the name that ends a screenshot's file name. */
export const themes = {
  light: { setting: 'Light Modern', bodyClass: 'vs' },
  dark: { setting: 'Dark Modern', bodyClass: 'vs-dark' },
  'hc-dark': { setting: 'Default High Contrast', bodyClass: 'hc-black' },
  'hc-light': { setting: 'Default High Contrast Light', bodyClass: 'hc-light' },
} as const;

/** A theme of `themes`. */
export type ThemeName = keyof typeof themes;

/** All of them. */
export const themeNames: readonly ThemeName[] = ['light', 'dark', 'hc-dark', 'hc-light'];
