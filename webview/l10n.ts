/**
 * The language of the webviews: texts are written in English in the code and looked up in the session's translations.
 *
 * It knows nothing of any panel. Its tests are in `test/unit/panelText.test.ts`.
 */
import { signal } from '@preact/signals';

interface Language {
  readonly locale: string;
  readonly translations: Readonly<Record<string, string>>;
}

const language = signal<Language>({ locale: 'en', translations: {} });

/** Sets the language of all that `t` and the formats say from now on; an unknown locale leaves English formats. */
export function setLanguage(locale: string, translations: Readonly<Record<string, string>>): void {
  language.value = { locale: isLocale(locale) ? locale : 'en', translations };
}

/** The locale for numbers, a BCP 47 tag. */
export function currentLocale(): string {
  return language.value.locale;
}

/** Translates an English text and puts the values in place of `{0}`, `{1}` and so on. */
export function t(text: string, ...values: readonly (string | number)[]): string {
  const { translations } = language.value;
  const translated = Object.hasOwn(translations, text) ? (translations[text] ?? text) : text;
  return translated.replace(/\{(\d+)\}/g, (placeholder, index: string) => String(values[Number(index)] ?? placeholder));
}

function isLocale(locale: string): boolean {
  try {
    return Intl.getCanonicalLocales(locale).length === 1;
  } catch (error) {
    return !(error instanceof RangeError);
  }
}
