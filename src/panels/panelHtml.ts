/** The page that a panel starts from. It loads one script and one style sheet of the extension and nothing else. */

/** What the page needs; the URIs are ones that the webview may load. */
export interface PanelPage {
  readonly title: string;
  readonly locale: string;
  readonly scriptUri: string;
  readonly styleUri: string;
  /** Where style sheets may come from, as VS Code tells. */
  readonly cspSource: string;
  /** A fresh random text for each page, with which scripts are allowed. */
  readonly nonce: string;
  /** Another one, which the toolkit finds in the page: it tries out an empty style sheet to learn what the browser can do. */
  readonly styleNonce: string;
}

/** The page's HTML. All that it says about the stream comes later, in messages, and is drawn as text. */
export function panelHtml(page: PanelPage): string {
  const { title, locale, scriptUri, styleUri, nonce, styleNonce } = page;
  const policy = contentSecurityPolicy(page);
  return `<!DOCTYPE html>
<html lang="${escapeHtml(locale)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}">
<meta property="csp-nonce" content="${escapeHtml(styleNonce)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${escapeHtml(styleUri)}">
</head>
<body>
<div id="root"></div>
<script type="module" nonce="${escapeHtml(nonce)}" src="${escapeHtml(scriptUri)}"></script>
</body>
</html>
`;
}

/** Nothing is allowed but the panel's script, by its nonce, and the extension's style sheets. */
export function contentSecurityPolicy(page: Pick<PanelPage, 'cspSource' | 'nonce' | 'styleNonce'>): string {
  const { cspSource, nonce, styleNonce } = page;
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource} 'nonce-${styleNonce}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
