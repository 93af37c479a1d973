// Bundles the extension, the worker, the bus and the webviews into dist. `--production` minifies, `--watch` rebuilds on change and
// prints the lines that .vscode/tasks.json's problem matcher waits for.
const fs = require('node:fs');
const path = require('node:path');
const sourcemap = require('@jridgewell/sourcemap-codec');
const esbuild = require('esbuild');

const isProduction = process.argv.includes('--production');
const isWatching = process.argv.includes('--watch');

const common = {
  bundle: true,
  logLevel: 'silent',
  metafile: true,
  outdir: 'dist',
  legalComments: 'none',
  // The client tells the kinds of its errors by the names of their classes, which bundling would change.
  keepNames: true,
};

/** Node bundles keep their names readable for the debugger: syntax and whitespace are minified, identifiers are not. */
const node = {
  ...common,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  sourcemap: true,
  sourcesContent: false,
  minifySyntax: isProduction,
  minifyWhitespace: isProduction,
};

/** The extension and its worker load one and the same client, which is a third of what either would be. */
const sharedClient = {
  name: 'shared-client',
  setup(build) {
    build.onResolve({ filter: /^ioredis$/ }, () => ({ path: 'ioredis', namespace: 'shared' }));
    // Required, because a native import() of a bundle finds no names in it.
    build.onLoad({ filter: /^ioredis$/, namespace: 'shared' }, () => ({
      contents: "module.exports = require('./ioredis.js');",
    }));
    build.onResolve({ filter: /./, namespace: 'shared' }, ({ path: file }) => ({ path: file, external: true }));
  },
};

const builds = [
  {
    ...node,
    entryPoints: { extension: 'src/extension.ts' },
    external: ['vscode'],
    minify: isProduction,
    sourcemap: !isProduction,
    plugins: [sharedClient],
  },
  { ...node, entryPoints: { ioredis: require.resolve('ioredis') }, minify: isProduction, sourcemap: false },
  { ...node, plugins: [sharedClient], entryPoints: { worker: 'src/worker/main.ts' } },
  { ...node, entryPoints: { bus: 'src/bus/index.ts' } },
  {
    ...common,
    entryPoints: webviewEntryPoints(),
    outdir: 'dist/webview',
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    keepNames: false,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: isProduction,
    sourcemap: !isProduction,
  },
].filter(
  (build) =>
    Object.values(build.entryPoints).length > 0 &&
    Object.values(build.entryPoints).every((file) => fs.existsSync(file)),
);

/** Each `webview/<panel>/main.tsx` becomes `dist/webview/<panel>.js`, its styles `dist/webview/<panel>.css`. */
function webviewEntryPoints() {
  const panels = fs.existsSync('webview') ? fs.readdirSync('webview', { withFileTypes: true }) : [];
  return Object.fromEntries(
    panels
      .filter((entry) => entry.isDirectory() && fs.existsSync(path.join('webview', entry.name, 'main.tsx')))
      .map((entry) => [entry.name, `webview/${entry.name}/main.tsx`]),
  );
}

/** @type {import('esbuild').Plugin} */
const reporter = {
  name: 'reporter',
  setup(build) {
    build.onStart(() => {
      if (isWatching) console.log('[watch] build started');
    });
    build.onEnd((result) => {
      for (const { text, location } of result.errors) {
        console.error(`✘ [ERROR] ${text}`);
        if (location) console.error(`    ${location.file}:${location.line}:${location.column}:`);
      }
      for (const { text } of result.warnings) console.warn(`▲ [WARNING] ${text}`);
      if (isWatching) console.log('[watch] build finished');
    });
  },
};

/** Nobody steps into these, and their places are half of a source map: the download goes without them, as .vscodeignore says too. */
const foreign = /^shared:|(^|\/)(node_modules|src\/embedded|src\/worker\/(ops|sample|sandbox|selftest|telemetry))\//;

function leaveOutForeign(mapFile) {
  const map = JSON.parse(fs.readFileSync(mapFile, 'utf8'));
  const isOwn = map.sources.map((source) => !foreign.test(source));
  const lines = sourcemap.decode(map.mappings).map((line) => {
    let wasOwn = true;
    return line.flatMap((segment) => {
      const own = segment.length > 1 && isOwn[segment[1]];
      const first = own || wasOwn;
      wasOwn = own;
      // A place without a source ends the one before it.
      return own ? [segment] : first ? [[segment[0]]] : [];
    });
  });
  const kept = map.sources.flatMap((_, index) => (isOwn[index] ? [index] : []));
  const moved = new Map(kept.map((index, at) => [index, at]));
  for (const segment of lines.flat()) if (segment.length > 1) segment[1] = moved.get(segment[1]);
  const sources = kept.map((index) => map.sources[index]);
  fs.writeFileSync(mapFile, JSON.stringify({ ...map, sources, mappings: sourcemap.encode(lines) }));
}

async function main() {
  if (!isWatching) fs.rmSync('dist', { recursive: true, force: true });
  const contexts = await Promise.all(
    builds.map((build) => esbuild.context({ ...build, plugins: [...(build.plugins ?? []), reporter] })),
  );
  if (isWatching) {
    await Promise.all(contexts.map((context) => context.watch()));
    return;
  }
  const results = await rebuildAndDispose(contexts);
  for (const name of ['worker', 'bus'])
    if (fs.existsSync(`dist/${name}.js.map`)) leaveOutForeign(`dist/${name}.js.map`);
  writeBusTypes();
  for (const { metafile } of results) {
    for (const [file, output] of Object.entries(metafile.outputs)) {
      if (!file.endsWith('.map')) console.log(`${file}  ${(output.bytes / 1024).toFixed(1)} KB`);
    }
  }
}

/** A context that is not disposed keeps this process alive, also after a failure. */
async function rebuildAndDispose(contexts) {
  try {
    return await Promise.all(contexts.map((context) => context.rebuild()));
  } finally {
    await Promise.all(contexts.map((context) => context.dispose()));
  }
}

/** The declarations that `tsc -b` left in `out` become the library's own: `dist/bus.d.ts` and what it refers to. */
function writeBusTypes() {
  for (const room of ['base', 'bus']) {
    const from = path.join('out', 'src', room);
    if (!fs.existsSync(from)) {
      console.log(`dist/bus.d.ts was left out: ${from} is missing. npm run build makes both.`);
      return;
    }
    fs.cpSync(from, path.join('dist', 'types', room), {
      recursive: true,
      filter: (file) => !file.endsWith('.tsbuildinfo'),
    });
  }
  fs.writeFileSync(path.join('dist', 'bus.d.ts'), "export * from './types/bus/index';\n");
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
