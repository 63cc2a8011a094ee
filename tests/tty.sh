# SPDX-License-Identifier: GPL-2.0-or-later
# tty.sh, to be sourced: a real terminal (tmux) that a script types into and reads.
#
#   tty_start WIDTHxHEIGHT COMMAND...   own tmux server, so nobody's sessions are touched
#   tty_keys KEY...                     as tmux send-keys; tty_type TEXT sends it literally
#   tty_screen                          the screen as text
#   tty_wait SECONDS REGEX              until the screen matches (grep -E); 1 and the screen if not
#   tty_stop
#
# SECONDS are of a machine with nothing else to do: PATIENCE times that is waited before giving up.
TTY_SOCK=ibroute-$$

tty_start() {
	local size=$1
	shift
	tmux -L "$TTY_SOCK" -f /dev/null new-session -d -x "${size%x*}" -y "${size#*x}" "$@"
	tmux -L "$TTY_SOCK" set-option -g remain-on-exit on >/dev/null 2>&1
	tmux -L "$TTY_SOCK" set-option -g status off >/dev/null 2>&1
}
tty_keys() { tmux -L "$TTY_SOCK" send-keys "$@"; }
tty_type() { tmux -L "$TTY_SOCK" send-keys -l "$1"; }
tty_screen() { tmux -L "$TTY_SOCK" capture-pane -p "$@"; }
tty_pid() { tmux -L "$TTY_SOCK" display-message -p '#{pane_pid}'; }
tty_dead() { [ -n "$(tty_status)" ]; } # tmux knows the status a moment after the end
# tmux 3.3a at times misses the end of its child, which stays a zombie: it is told again.
tty_status() {
	local pid dead

	read -r pid dead < <(tmux -L "$TTY_SOCK" display-message -p '#{pid} #{pane_dead}')
	[ "$dead" = 1 ] && kill -CHLD "$pid" 2>/dev/null
	tmux -L "$TTY_SOCK" display-message -p "#{?pane_dead,#{?pane_dead_signal,signal #{pane_dead_signal},#{pane_dead_status}},}"
}
tty_resize() { tmux -L "$TTY_SOCK" resize-window -x "${1%x*}" -y "${1#*x}"; }
tty_wait() {
	local end=$((SECONDS + $1 * ${PATIENCE:-4}))
	while [ $SECONDS -le $end ]; do
		tty_screen 2>/dev/null | grep -qE -- "$2" && return 0
		sleep 0.1
	done
	echo "the screen never showed: $2" >&2
	tty_screen >&2
	return 1
}
tty_stop() { # and waits: a server that is going away takes a new session with it
	local server

	server=$(tmux -L "$TTY_SOCK" display-message -p '#{pid}' 2>/dev/null) || return 0
	tmux -L "$TTY_SOCK" kill-server 2>/dev/null
	for _ in $(seq 100); do
		kill -0 "$server" 2>/dev/null || return 0
		sleep 0.05
	done
}

# tty_engine NAME: in view 6, the cursor on that engine (the menu is read off the screen)
tty_engine() {
	local i=0 name

	tty_wait 5 "^.?\\(.\\) +$1( |\$)" || return 1
	while read -r name; do
		[ "$name" != "$1" ] || break
		i=$((i + 1))
	done < <(tty_screen | sed -nE 's/^.?\(.\) +([a-z0-9]+).*/\1/p')
	tty_keys g
	[ $i -eq 0 ] || tty_keys -N $i Down
	tty_wait 5 "^>\\(.\\) +$1( |\$)"
}

# tty_update NAME: in view 7, from the plan to what was kept, with the fabric's name typed twice
tty_update() {
	tty_wait 10 'ready to start' || return 1
	tty_keys Enter
	tty_wait 5 'to START' || return 1
	tty_type "$1"
	tty_keys Enter
	tty_wait 30 'NOT YET CONFIRMED' || return 1
	tty_keys Enter
	tty_wait 5 'to CONFIRM' || return 1
	tty_type "$1"
	tty_keys Enter
	tty_wait 10 'new routing is active'
}
