# The wall clock that a process is shown instead of the system's. It is assembled
# into amd64.bin, has no fixed place, and lies behind its cells in the free end of
# the vDSO; the entries below are jumped to from the vDSO's own functions.
#   as -o amd64.o amd64.S && objcopy -O binary -j .text amd64.o amd64.bin
# A cell holds three numbers: a moment M of CLOCK_MONOTONIC, the wall clock W at
# it, and P, how many millionths faster than the monotonic clock it runs. The wall
# clock is W + d + d P / 1,000,000, where d is the time since M.
	.text
cells:	.zero 4*24	# one of four is in force
chosen:	.quad 0		# its number: others are written before it is chosen
entries:
	.quad clock_gettime-cells, gettimeofday-cells, time-cells

clock_gettime:		# edi: clock, rsi: timespec
	testl	%edi, %edi		# CLOCK_REALTIME
	je	1f
	cmpl	$5, %edi		# CLOCK_REALTIME_COARSE
	je	1f
	cmpl	$11, %edi		# CLOCK_TAI
	je	1f
	movl	$228, %eax		# any other is the system's
	syscall
	ret
1:	movq	%rsi, %r10
	call	wall
	movq	%rax, (%r10)
	movq	%rdx, 8(%r10)
	xorl	%eax, %eax
	ret

gettimeofday:		# rdi: timeval or 0, rsi: timezone or 0
	movq	%rdi, %r10
	testq	%rsi, %rsi
	je	1f
	movq	$0, (%rsi)
1:	testq	%r10, %r10
	je	2f
	call	wall
	movq	%rax, (%r10)
	movq	%rdx, %rax
	xorl	%edx, %edx
	movl	$1000, %ecx
	divq	%rcx
	movq	%rax, 8(%r10)
2:	xorl	%eax, %eax
	ret

time:			# rdi: time_t or 0
	movq	%rdi, %r10
	call	wall
	testq	%r10, %r10
	je	1f
	movq	%rax, (%r10)
1:	ret

wall:			# gives seconds in rax and nanoseconds in rdx; r10 stays
	subq	$24, %rsp
	movl	$228, %eax
	movl	$1, %edi		# CLOCK_MONOTONIC
	movq	%rsp, %rsi
	syscall
	imulq	$1000000000, (%rsp), %rax
	addq	8(%rsp), %rax
	addq	$24, %rsp
	leaq	cells(%rip), %rcx
	movl	chosen(%rip), %edx
	imulq	$24, %rdx, %rdx
	addq	%rdx, %rcx
	subq	(%rcx), %rax
	movq	%rax, %r8
	imulq	16(%rcx)
	movl	$1000000, %r9d
	idivq	%r9
	addq	%r8, %rax
	addq	8(%rcx), %rax
	xorl	%edx, %edx
	movl	$1000000000, %r9d
	divq	%r9
	ret
