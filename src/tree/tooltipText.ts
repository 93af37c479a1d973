import { shortened } from '../base/shortText';
import { escapeMarkdown, markdownCode } from '../base/markdown';
import { formatTime } from '../base/numberText';
import type { TreeContext } from './treeContext';

/** How much a tooltip shows of one name or value: Redis bounds neither, and a hover is no place for megabytes. */
const maxChars = 1000;

/** Builds a tooltip line by line. */
export class TooltipText {
  private readonly lines: string[] = [];

  constructor(title: string) {
    this.lines.push(`**${escapeMarkdown(shortened(title, maxChars))}**`);
  }

  /** A sentence of ours, as its own paragraph. */
  sentence(text: string | undefined): this {
    if (text !== undefined && text !== '') this.lines.push('', escapeMarkdown(shortened(text, maxChars)));
    return this;
  }

  /** A figure, its explanation, and where it comes from. */
  figure(name: string, value: string, meaning: string, source: string): this {
    if (!this.lines.at(-1)?.startsWith('- ')) this.lines.push('');
    const explained = meaning === '' ? '' : `: ${escapeMarkdown(meaning)}`;
    this.lines.push(
      `- ${escapeMarkdown(name)} **${escapeMarkdown(shortened(value, maxChars))}**${explained} (${markdownCode(source)})`,
    );
    return this;
  }

  /** When all of it was read. */
  readAt(serverTimeMs: number, { l10n, locale }: Pick<TreeContext, 'l10n' | 'locale'>): string {
    this.lines.push(
      '',
      escapeMarkdown(l10n.t('Read at {0} by the clock of the server.', formatTime(serverTimeMs, locale))),
    );
    return this.lines.join('\n');
  }

  toString(): string {
    return this.lines.join('\n');
  }
}
