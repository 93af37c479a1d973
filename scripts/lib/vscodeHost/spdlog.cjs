// Takes the place of the native module @vscode/spdlog in the cached VS Code server, which is installed without a
// compiler: without it log files, and with them the output channels that are read from files, stay empty.
// It must not depend on anything but Node. Tested by test/host/harness.test.ts, which reads an output channel.
// @ts-check

'use strict';

const { appendFileSync, mkdirSync } = require('node:fs');
const { dirname } = require('node:path');

const levels = ['trace', 'debug', 'info', 'warning', 'error', 'critical'];

class Logger {
  /**
   * @param {string} _type
   * @param {string} _name
   * @param {string} path
   */
  constructor(_type, _name, path) {
    this.path = path;
    this.level = 2;
    this.formats = true;
    mkdirSync(dirname(path), { recursive: true });
  }

  /** @param {string} message */
  trace(message) {
    this.write(0, message);
  }
  /** @param {string} message */
  debug(message) {
    this.write(1, message);
  }
  /** @param {string} message */
  info(message) {
    this.write(2, message);
  }
  /** @param {string} message */
  warn(message) {
    this.write(3, message);
  }
  /** @param {string} message */
  error(message) {
    this.write(4, message);
  }
  /** @param {string} message */
  critical(message) {
    this.write(5, message);
  }

  getLevel() {
    return this.level;
  }
  /** @param {number} level */
  setLevel(level) {
    this.level = level;
  }
  setPattern() {
    this.formats = true;
  }
  clearFormatters() {
    this.formats = false;
  }
  flush() {}
  drop() {}

  /**
   * @param {number} level
   * @param {string} message
   */
  write(level, message) {
    if (level < this.level) return;
    appendFileSync(this.path, this.formats ? `${timestamp(new Date())} [${levels[level]}] ${message}\n` : message);
  }
}

/** @param {Date} date */
function timestamp(date) {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().replace('T', ' ').replace('Z', '');
}

/**
 * @param {string} name
 * @param {string} path
 */
async function createLogger(name, path) {
  return new Logger('rotating', name, path);
}

exports.version = 0;
exports.setLevel = () => undefined;
exports.setFlushOn = () => undefined;
exports.Logger = Logger;
exports.createRotatingLogger = createLogger;
exports.createAsyncRotatingLogger = createLogger;
