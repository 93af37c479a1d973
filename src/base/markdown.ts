/** Text as one Markdown paragraph shows it, literally: nothing in it can become a link, an image, HTML, an icon or a new line. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/\s+/gu, ' ')
    .replace(/[\\`*_{}[\]()#+\-.!|<>&~$:@/"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Text as Markdown inline code, for commands and ids; back quotes inside cannot end it. */
export function markdownCode(text: string): string {
  const flat = text.replace(/\s+/gu, ' ');
  const longestRun = Math.max(0, ...[...flat.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longestRun + 1);
  const pad = flat.startsWith('`') || flat.endsWith('`') || flat.trim() === '' ? ' ' : '';
  return `${fence}${pad}${flat}${pad}${fence}`;
}
