/** Whether `run` means the runs application: no stream is named, and no editor launches it. */
export function isRunApplication(args: readonly string[], env: NodeJS.ProcessEnv): boolean {
  const names = args.map((argument) => argument.split('=')[0]);
  return !names.includes('--stream') && !names.includes('--launch-file') && (env.REDIS_STREAMS_STREAM ?? '') === '';
}
