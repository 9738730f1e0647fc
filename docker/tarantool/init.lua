-- One server of Tarantool 2.6, or of a later release without a cluster, that keeps Tenure's leases:
--
--     TENURE_PASSWORD_FILE=/etc/tenure/tarantool.password tarantool init.lua
--
-- TENURE_TARANTOOL_DIR is where its data is (default: /var/lib/tarantool/tenure), TENURE_LISTEN what
-- it listens on (default: 127.0.0.1:3301). The leases are lost with its disk. Three servers survive the
-- loss of one: config.yml.
local fio = require('fio')

local here = fio.dirname(fio.abspath(arg[0]))
package.path = here .. '/?.lua;' .. package.path

local function password()
    local path = assert(os.getenv('TENURE_PASSWORD_FILE'), 'TENURE_PASSWORD_FILE is not set')
    local file = assert(fio.open(path, {'O_RDONLY'}), 'cannot read ' .. path)
    local text = file:read()
    file:close()
    text = text:gsub('%s+$', '')
    assert(text ~= '', path .. ' is empty')
    return text
end

local secret = password()
local directory = os.getenv('TENURE_TARANTOOL_DIR') or '/var/lib/tarantool/tenure'
fio.mktree(directory)

box.cfg{
    listen = os.getenv('TENURE_LISTEN') or '127.0.0.1:3301',
    work_dir = directory,
    -- A token must outlast a power failure, or it is granted twice.
    wal_mode = 'fsync',
    -- A damaged log is an error: grants may follow the damage.
    force_recovery = false,
    -- An agent that waits for changes holds one message; half of them may be held like this.
    net_msg_max = 8192,
}
-- Nothing is sent to the makers of Tarantool. Some builds cannot, and do not know the setting.
pcall(box.cfg, {feedback_enabled = false})

require('tenure').start{user = 'tenure', password = secret}
