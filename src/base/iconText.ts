/** Text for places where VS Code turns `$(name)` into an icon: status bar, quick picks. Written so that it stays text. */
export function escapeIcons(text: string): string {
  return text.replaceAll('$(', '\\$(');
}
