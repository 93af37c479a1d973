/** Puts a sentence into the display language; `{0}` stands for the first argument. `vscode.l10n` is one. */
export interface Localizer {
  t(message: string, ...args: (string | number | boolean)[]): string;
}

/** Leaves sentences in English; what plain Node and tests use. */
export const englishLocalizer: Localizer = {
  t: (message, ...args) =>
    message.replace(/\{(\d+)\}/g, (whole, index: string) => String(args[Number(index)] ?? whole)),
};
