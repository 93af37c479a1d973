// Throw-away certificates for a TLS server on loopback, made by the openssl program in the server's own folder.
// Tested by test/bus/support.test.ts.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A certificate authority with a server and a client certificate. */
export interface TlsCertificates {
  /** For a client's `tls` option. */
  readonly client: { readonly ca: string; readonly cert: string; readonly key: string };
  /** The lines of redis.conf that use them. */
  configLines(mutual: boolean): string[];
}

/** Makes the certificates in `dir`; the server's is for 127.0.0.1 and localhost. */
export function makeTlsCertificates(dir: string): TlsCertificates {
  const at = (name: string): string => path.join(dir, name);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl([
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.crt'),
    '-days',
    '2',
    '-subj',
    '/CN=test CA',
  ]);
  writeFileSync(at('names.ext'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  for (const name of ['server', 'client']) {
    openssl(['req', ...newKey, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`), '-subj', `/CN=test ${name}`]);
    const signed = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2'];
    openssl([
      'x509',
      '-req',
      '-in',
      at(`${name}.csr`),
      ...signed,
      '-extfile',
      at('names.ext'),
      '-out',
      at(`${name}.crt`),
    ]);
  }
  const read = (name: string): string => readFileSync(at(name), 'utf8');
  return {
    client: { ca: read('ca.crt'), cert: read('client.crt'), key: read('client.key') },
    configLines: (mutual) => [
      `tls-cert-file ${JSON.stringify(at('server.crt'))}`,
      `tls-key-file ${JSON.stringify(at('server.key'))}`,
      `tls-ca-cert-file ${JSON.stringify(at('ca.crt'))}`,
      `tls-auth-clients ${mutual ? 'yes' : 'no'}`,
    ],
  };
}

function openssl(args: readonly string[]): void {
  const run = spawnSync('openssl', args, { encoding: 'utf8' });
  if (run.error !== undefined) {
    throw new Error('The TLS tests make certificates with openssl, which is not on PATH: install it.', {
      cause: run.error,
    });
  }
  if (run.status !== 0) throw new Error(`openssl ${args[0] ?? ''} failed: ${run.stderr.trim()}`);
}
